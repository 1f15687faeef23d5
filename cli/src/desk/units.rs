use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::Pow;

/// A unit, with its exact place on the scale of its kind.
#[derive(Debug)]
pub(crate) struct Unit {
    pub(crate) name: &'static str,
    aliases: &'static [&'static str],
    kind: Kind,
    /// How many base units one of it is: numerator, denominator, power of ten.
    factor: (u64, u64, i32),
    /// Where its zero lies, in base units; only temperatures have that.
    zero: (i64, u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Length,
    Area,
    Volume,
    Mass,
    Time,
    Speed,
    Data,
    Temperature,
    Angle,
    Energy,
}

impl Unit {
    /// Finds a unit. Its short sign tells upper from lower case where that matters.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        let exact = UNITS.iter().find(|unit| unit.aliases.contains(&name));
        let lower = name.to_lowercase();
        exact.or_else(|| {
            UNITS.iter().find(|unit| {
                unit.name == lower
                    || unit.aliases.contains(&lower.as_str())
                    || singular(unit, &lower)
            })
        })
    }

    pub(crate) fn measures_like(&self, other: &Self) -> bool {
        self.kind == other.kind
    }

    fn base(&self, value: &BigRational) -> BigRational {
        value * self.scale() + self.offset()
    }

    fn scale(&self) -> BigRational {
        let (numer, denom, exponent) = self.factor;
        let ten = BigRational::from(BigInt::from(10).pow(exponent.unsigned_abs()));
        let factor = BigRational::new(numer.into(), denom.into());
        if exponent < 0 {
            factor / ten
        } else {
            factor * ten
        }
    }

    fn offset(&self) -> BigRational {
        BigRational::new(self.zero.0.into(), self.zero.1.into())
    }
}

impl PartialEq for Unit {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Unit {}

/// Converts exactly. Nothing when the units measure different things.
pub(crate) fn convert(value: &BigRational, from: &Unit, to: &Unit) -> Option<BigRational> {
    from.measures_like(to)
        .then(|| (from.base(value) - to.offset()) / to.scale())
}

/// Names are plurals; "mile" is found as "miles".
fn singular(unit: &Unit, word: &str) -> bool {
    unit.name.strip_suffix('s') == Some(word)
}

const fn unit(
    name: &'static str,
    aliases: &'static [&'static str],
    kind: Kind,
    numer: u64,
    denom: u64,
    exponent: i32,
) -> Unit {
    Unit {
        name,
        aliases,
        kind,
        factor: (numer, denom, exponent),
        zero: (0, 1),
    }
}

use Kind::{Angle, Area, Data, Energy, Length, Mass, Speed, Temperature, Time, Volume};

/// By definition, so every factor is exact: the inch is 25.4 mm, the pound
/// 0.45359237 kg, the US gallon 231 cubic inches. A year is the Julian one.
const UNITS: &[Unit] = &[
    unit(
        "nanometres",
        &["nm", "nanometers", "nanometer"],
        Length,
        1,
        1,
        -9,
    ),
    unit(
        "micrometres",
        &["um", "µm", "micrometers", "micrometer", "microns"],
        Length,
        1,
        1,
        -6,
    ),
    unit(
        "millimetres",
        &["mm", "millimeters", "millimeter"],
        Length,
        1,
        1,
        -3,
    ),
    unit(
        "centimetres",
        &["cm", "centimeters", "centimeter"],
        Length,
        1,
        1,
        -2,
    ),
    unit("metres", &["m", "meters", "meter"], Length, 1, 1, 0),
    unit(
        "kilometres",
        &["km", "kilometers", "kilometer", "kms"],
        Length,
        1,
        1,
        3,
    ),
    unit("inches", &["in", "inch", "\""], Length, 254, 1, -4),
    unit("feet", &["ft", "foot"], Length, 3_048, 1, -4),
    unit("yards", &["yd"], Length, 9_144, 1, -4),
    unit("miles", &["mi"], Length, 1_609_344, 1, -3),
    unit(
        "nautical miles",
        &["nmi", "nautical mile"],
        Length,
        1_852,
        1,
        0,
    ),
    unit(
        "square metres",
        &["m2", "m²", "sqm", "square meters", "square meter"],
        Area,
        1,
        1,
        0,
    ),
    unit(
        "square kilometres",
        &["km2", "km²", "square kilometers", "square kilometer"],
        Area,
        1,
        1,
        6,
    ),
    unit(
        "square feet",
        &["ft2", "sqft", "square foot"],
        Area,
        9_290_304,
        1,
        -8,
    ),
    unit(
        "square miles",
        &["mi2", "square mile"],
        Area,
        2_589_988_110_336,
        1,
        -6,
    ),
    unit("hectares", &["ha"], Area, 1, 1, 4),
    unit("acres", &["ac"], Area, 40_468_564_224, 1, -7),
    unit(
        "millilitres",
        &["ml", "mL", "milliliters", "milliliter"],
        Volume,
        1,
        1,
        -6,
    ),
    unit(
        "centilitres",
        &["cl", "cL", "centiliters", "centiliter"],
        Volume,
        1,
        1,
        -5,
    ),
    unit("litres", &["l", "L", "liters", "liter"], Volume, 1, 1, -3),
    unit(
        "cubic metres",
        &["m3", "m³", "cubic meters", "cubic meter"],
        Volume,
        1,
        1,
        0,
    ),
    unit(
        "gallons",
        &["gal", "us gallons", "us gallon"],
        Volume,
        3_785_411_784,
        1,
        -12,
    ),
    unit("quarts", &["qt"], Volume, 946_352_946, 1, -12),
    unit("pints", &["pt"], Volume, 473_176_473, 1, -12),
    unit("cups", &[], Volume, 2_365_882_365, 1, -13),
    unit(
        "fluid ounces",
        &["floz", "fl oz", "fluid ounce"],
        Volume,
        295_735_295_625,
        1,
        -16,
    ),
    unit("milligrams", &["mg"], Mass, 1, 1, -6),
    unit("grams", &["g", "gramme", "grammes"], Mass, 1, 1, -3),
    unit("kilograms", &["kg", "kilo", "kilos", "kgs"], Mass, 1, 1, 0),
    unit("tonnes", &["t", "metric tons", "metric ton"], Mass, 1, 1, 3),
    unit("ounces", &["oz"], Mass, 28_349_523_125, 1, -12),
    unit("pounds", &["lb", "lbs"], Mass, 45_359_237, 1, -8),
    unit("stone", &["st"], Mass, 635_029_318, 1, -8),
    unit("nanoseconds", &["ns"], Time, 1, 1, -9),
    unit("microseconds", &["us", "µs"], Time, 1, 1, -6),
    unit("milliseconds", &["ms"], Time, 1, 1, -3),
    unit("seconds", &["s", "sec", "secs"], Time, 1, 1, 0),
    unit("minutes", &["min", "mins"], Time, 60, 1, 0),
    unit("hours", &["h", "hr", "hrs"], Time, 3_600, 1, 0),
    unit("days", &["d"], Time, 86_400, 1, 0),
    unit("weeks", &["wk"], Time, 604_800, 1, 0),
    unit("years", &["yr", "yrs"], Time, 31_557_600, 1, 0),
    unit(
        "metres per second",
        &["m/s", "mps", "meters per second"],
        Speed,
        1,
        1,
        0,
    ),
    unit(
        "kilometres per hour",
        &["km/h", "kmh", "kph", "kilometers per hour"],
        Speed,
        5,
        18,
        0,
    ),
    unit("miles per hour", &["mph"], Speed, 44_704, 1, -5),
    unit("knots", &["kn", "kt"], Speed, 463, 900, 0),
    unit("bits", &["bit"], Data, 1, 8, 0),
    unit("bytes", &["B"], Data, 1, 1, 0),
    unit("kilobytes", &["kB", "kb"], Data, 1, 1, 3),
    unit("megabytes", &["MB", "mb"], Data, 1, 1, 6),
    unit("gigabytes", &["GB", "gb"], Data, 1, 1, 9),
    unit("terabytes", &["TB", "tb"], Data, 1, 1, 12),
    unit("kibibytes", &["KiB", "kib"], Data, 1_024, 1, 0),
    unit("mebibytes", &["MiB", "mib"], Data, 1_048_576, 1, 0),
    unit("gibibytes", &["GiB", "gib"], Data, 1_073_741_824, 1, 0),
    unit("tebibytes", &["TiB", "tib"], Data, 1_099_511_627_776, 1, 0),
    unit("kelvin", &["K"], Temperature, 1, 1, 0),
    Unit {
        name: "degrees Celsius",
        aliases: &[
            "C",
            "c",
            "°c",
            "°C",
            "celsius",
            "degrees celsius",
            "degree celsius",
            "centigrade",
        ],
        kind: Temperature,
        factor: (1, 1, 0),
        zero: (27_315, 100),
    },
    Unit {
        name: "degrees Fahrenheit",
        aliases: &[
            "F",
            "f",
            "°f",
            "°F",
            "fahrenheit",
            "degrees fahrenheit",
            "degree fahrenheit",
        ],
        kind: Temperature,
        factor: (5, 9, 0),
        zero: (45_967, 180),
    },
    unit("degrees", &["deg", "°"], Angle, 1, 360, 0),
    unit("turns", &[], Angle, 1, 1, 0),
    unit("joules", &["J"], Energy, 1, 1, 0),
    unit("kilojoules", &["kJ", "kj"], Energy, 1, 1, 3),
    unit("calories", &["cal"], Energy, 4_184, 1, -3),
    unit("kilocalories", &["kcal"], Energy, 4_184, 1, 0),
    unit(
        "kilowatt hours",
        &["kWh", "kwh", "kilowatt hour"],
        Energy,
        36,
        1,
        5,
    ),
];
