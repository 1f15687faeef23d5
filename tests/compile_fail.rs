//! The errors that users will meet, and that their messages say what to do.

#[test]
fn errors_say_what_to_do() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/compile_fail/*.rs");
}
