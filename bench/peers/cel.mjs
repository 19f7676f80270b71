// cel.mjs - a case of bench/cel_cases.json with an evaluator of npm.
//
//   node cel.mjs @marcbachmann/cel-js|@bufbuild/cel CASE
//
// Needs the package where node finds it (npm install).  Prints the name that bench/cel.c reports,
// with the time of one evaluation of an expression parsed once.  Integers are BigInt: that is what
// these evaluators take for the int of the language.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { repeat } from './repeat.mjs';

const [, , name, key] = process.argv;
const file = new URL('../cel_cases.json', import.meta.url);
const { cases, answers, parse, world } = JSON.parse(readFileSync(file, 'utf8'),
    (_, value) => (Number.isInteger(value) ? BigInt(value) : value));
world.items100 = Array.from({ length: 100 }, (_, i) => structuredClone(world.items[i % 10]));

// For each package: text to tree, and text to a function of the variables.
const peers = {
    '@marcbachmann/cel-js': ({ Environment }) => {
        const env = new Environment({ unlistedVariablesAreDyn: true, homogeneousAggregateLiterals: false });
        return { parse: (text) => env.parse(text), compile: (text) => env.parse(text) };
    },
    '@bufbuild/cel': ({ celEnv, parse, plan }) => {
        const env = celEnv();
        return { parse, compile: (text) => plan(env, parse(text)) };
    },
};

const at = createRequire(process.cwd() + '/').resolve(name);
const peer = peers[name](await import(pathToFileURL(at)));
if (key === 'cel_parse_ns') {
    repeat(key, 1, () => peer.parse(parse));
} else {
    const program = peer.compile(cases[key]), wanted = answers[key] ?? true;
    if (program(world) !== wanted)
        throw new Error(`${cases[key]} gives ${program(world)}`);
    repeat(key, 1, () => program(world));
}
