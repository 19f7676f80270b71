// tap.mjs - stands between the program and a server, and writes down what is really sent.
//
// Usage: node tap.mjs TARGET FILE
//
// Listens on a port of 127.0.0.1, hands every request on to TARGET and the answer back as it comes.
// One line of JSON for each request goes to FILE before it is handed on: method, path, headers, body.
import http from "node:http";
import fs from "node:fs";

const [target, file] = process.argv.slice(2);

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function hand_on(from, to, body) {
  const headers = { ...from.headers, host: new URL(target).host };
  const there = http.request(target + from.url, { method: from.method, headers }, (answer) => {
    to.writeHead(answer.statusCode, answer.headers);
    answer.pipe(to);
    answer.on("error", () => to.destroy());
    answer.on("aborted", () => to.destroy());
  });
  there.on("error", () => to.destroy());
  to.on("close", () => there.destroy());
  there.end(body);
}

http
  .createServer((from, to) => {
    const parts = [];
    from.on("data", (part) => parts.push(part));
    from.on("end", () => {
      const body = Buffer.concat(parts);
      const { method, url: path, headers } = from;
      fs.appendFileSync(file, JSON.stringify({ method, path, headers, body: parsed(body.toString()) }) + "\n");
      hand_on(from, to, body);
    });
  })
  .listen(0, "127.0.0.1", function () {
    console.log(`listening on http://127.0.0.1:${this.address().port}`);
  });
