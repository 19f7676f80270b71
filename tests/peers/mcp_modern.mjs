// mcp_modern.mjs - an MCP server of the newer era, with the SDK of those who wrote the protocol.
//
//   mcp_modern.mjs stdio | http     http: prints "listening on URL"; the older era is refused
//
// Tools: echo, sum (structured), ask (wants to know a colour first), slow, grow (adds the tool `grown` and says so).
import { McpServer, acceptedContent, createMcpHandler, inputRequired } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import http from 'node:http';

let handler, grown = false;
const colour = { type: 'object', properties: { colour: { type: 'string', default: 'blue' } } };
const text = (words) => ({ content: [{ type: 'text', text: words }] });

function make() {
    const server = new McpServer({ name: 'modern', version: '1' }, { capabilities: { tools: { listChanged: true } } });
    server.registerTool('echo', { description: 'Says it again.', inputSchema: z.object({ text: z.string() }) },
        async (args) => text(args.text));
    server.registerTool('sum', {
        description: 'Adds.', inputSchema: z.object({ a: z.number(), b: z.number() }),
        outputSchema: z.object({ sum: z.number() }),
    }, async ({ a, b }) => ({ content: [], structuredContent: { sum: a + b } }));
    server.registerTool('ask', { description: 'Asks.', inputSchema: z.object({}) }, async (args, ctx) => {
        const answer = acceptedContent(ctx.mcpReq.inputResponses, 'colour');
        if (answer) return text(`${answer.colour}, ${ctx.mcpReq.requestState?.() ?? 'no state'}`);
        return inputRequired({
            inputRequests: { colour: inputRequired.elicit({ message: 'Which colour?', requestedSchema: colour }) },
            requestState: 'kept',
        });
    });
    server.registerTool('slow', { description: 'Takes a while.', inputSchema: z.object({}) },
        async () => { await new Promise((done) => setTimeout(done, 300)); return text('done'); });
    server.registerTool('grow', { description: 'Grows.', inputSchema: z.object({}) },
        async () => { grown = true; handler?.notify.toolsChanged(); return text('grown'); });
    if (grown)
        server.registerTool('grown', { description: 'New.', inputSchema: z.object({}) }, async () => text('new'));
    return server;
}

if (process.argv[2] === 'stdio') {
    serveStdio(make);
} else {
    handler = createMcpHandler(make, { legacy: 'reject' });
    const server = http.createServer(async (req, res) => {
        const chunks = [];
        for await (const chunk of req) chunks.push(chunk);
        const gone = new AbortController();
        res.on('close', () => gone.abort());
        const body = chunks.length ? Buffer.concat(chunks) : undefined;
        const answer = await handler.fetch(new Request(`http://${req.headers.host}${req.url}`,
            { method: req.method, headers: req.headers, body, signal: gone.signal }));
        res.writeHead(answer.status, Object.fromEntries(answer.headers));
        res.flushHeaders();
        try {
            for await (const chunk of answer.body ?? []) res.write(chunk);
        } catch { /* the other side has left */ }
        res.end();
    });
    server.listen(0, '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${server.address().port}/mcp`));
}
