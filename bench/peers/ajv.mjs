// ajv.mjs - the cases of bench/schema_cases.json with ajv's compiled functions.
//
// Needs npm's ajv where node finds it (npm install ajv).  Prints the names that bench/schema.c
// reports, so that both can be set side by side.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(process.cwd() + '/');
const Ajv = require('ajv/dist/2020').default;
const file = new URL('../schema_cases.json', import.meta.url);
const cases = JSON.parse(readFileSync(file, 'utf8'));
const rounds = 7;

function best(times, run) {
    let best = Infinity;
    for (let round = 0; round < rounds; round++) {
        const start = process.hrtime.bigint();
        for (let i = 0; i < times; i++)
            if (!run())
                throw new Error('a value does not fit');
        best = Math.min(best, Number(process.hrtime.bigint() - start) / times);
    }
    return best;
}

function check(name, times) {
    const { schema, value, count, item } = cases[name];
    const subject = value ?? Array.from({ length: count }, (_, id) => ({ ...structuredClone(item), id }));
    const validate = new Ajv().compile(schema);
    return best(times, () => validate(subject));
}

const print = (name, value) => console.log(name, value.toFixed(3));
print('schema_judge_ns', check('judge', 2000000));
print('schema_result_ns', check('result', 200000));
print('schema_big_ms', check('big', 20) / 1e6);
print('schema_compile_us', best(50, () => new Ajv().compile(structuredClone(cases.result.schema))) / 1e3);
