// https.mjs - a server that speaks TLS, for tests/cli/https.sh: `node https.mjs h2|h1|proxy KEY CERT` prints its port,
// and ends when its standard input does.  /count says how many connections and requests there were; /hold answers when
// twenty have asked.
import fs from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import net from 'node:net';

const [kind, key, cert] = process.argv.slice(2);
const tls = key && { key: fs.readFileSync(key), cert: fs.readFileSync(cert) };
let connections = 0, requests = 0;
const held = [];

function answer(request, response) {
    requests++;
    if (request.url === '/count')
        response.end(`${connections} connections, ${requests} requests, HTTP ${request.httpVersion}`);
    else if (request.url === '/down')
        response.writeHead(302, { location: 'http://localhost/' }).end();
    else if (request.url === '/cut')
        response.write('abc', () => (request.stream ? request.stream.close(2) : request.socket.destroy()));
    else if (request.url === '/hold') {
        response.write('held ');
        if (held.push(response) === 20)
            held.splice(0).forEach(r => r.end('and let go'));
    } else
        setTimeout(() => response.end('ok'), 100);
}

// Leads to ports of this machine, when they are asked for as localhost.
function connect(request, socket) {
    if (!request.url.startsWith('localhost:'))
        return socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
    const to = net.connect(Number(request.url.split(':')[1]), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\nX-From: proxy\r\n\r\n');
        to.pipe(socket);
        socket.pipe(to);
    });
    to.on('error', () => socket.destroy());
    socket.on('error', () => to.destroy());
}

const server = kind === 'h2' ? http2.createSecureServer({ ...tls, allowHTTP1: true, settings: { maxConcurrentStreams: 100 } }, answer)
    : kind === 'h1' ? https.createServer(tls, answer)
    : http.createServer().on('connect', connect);
server.on('connection', () => connections++);
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
