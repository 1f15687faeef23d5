// Asks turns over the plain edge, one for each line of standard input, and prints for each the data of
// its events as they came: a JSON array of strings.
//
// A line is {"url": …, "accept": …, "body": …}; what is sent along beside is in the arguments, as
// NAME:VALUE.
import { createInterface } from "node:readline";

const headers = Object.fromEntries(process.argv.slice(2).map((one) => one.split(":", 2)));

/** Server-sent events, by the grammar of the WHATWG. */
function readSse(data) {
  let text = "";
  let event = null;
  return (chunk) => {
    text += chunk;
    // A CR at the end may be half of a line end.
    for (let end; (end = text.match(/\r\n|\n|\r(?=[^])/)); ) {
      const line = text.slice(0, end.index);
      text = text.slice(end.index + end[0].length);
      if (line === "") {
        if (event !== null) data.push(event);
        event = null;
      } else if (line.startsWith("data:")) {
        const value = line.slice(5).replace(/^ /, "");
        event = event === null ? value : `${event}\n${value}`;
      }
    }
  };
}

function readLines(data) {
  let text = "";
  return (chunk) => {
    const lines = (text + chunk).split("\n");
    text = lines.pop();
    data.push(...lines.filter((line) => line !== ""));
  };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { url, accept, body } = JSON.parse(line);
  const response = await fetch(url, {
    method: "POST",
    headers: { ...headers, accept, "content-type": "application/json" },
    body,
  });
  const type = response.headers.get("content-type");
  if (response.status !== 200 || type !== accept) {
    throw new Error(`${response.status} ${type}: ${await response.text()}`);
  }
  const data = [];
  const read = accept === "text/event-stream" ? readSse(data) : readLines(data);
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  for await (const chunk of response.body) read(utf8.decode(chunk, { stream: true }));
  data.forEach((one) => JSON.parse(one));
  const last = JSON.parse(data.at(-1)).type;
  if (last !== "completed" && last !== "failed") throw new Error(`ended with ${last}`);
  console.log(JSON.stringify(data));
}
