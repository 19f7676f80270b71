// ajv.mjs - a case of bench/schema_cases.json with ajv's compiled functions.
//
//   node ajv.mjs CASE
//
// Needs npm's ajv where node finds it (npm install ajv).  Prints the name that bench/schema.c
// reports.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { repeat } from './repeat.mjs';

const Ajv = createRequire(process.cwd() + '/')('ajv/dist/2020').default;
const file = new URL('../schema_cases.json', import.meta.url);
const cases = JSON.parse(readFileSync(file, 'utf8'));

function check(name) {
    const { schema, value, count, item } = cases[name];
    const subject = value ?? Array.from({ length: count }, (_, id) => ({ ...structuredClone(item), id }));
    const validate = new Ajv().compile(schema);
    return () => validate(subject) || undefined;
}

// The same instance each time, which has read its meta-schema once; a copy, so that it does not
// know the schema yet.
function compile({ schema }) {
    const ajv = new Ajv();
    return () => {
        const copy = structuredClone(schema);
        const validate = ajv.compile(copy);
        ajv.removeSchema(copy);
        return validate;
    };
}

const measures = {
    schema_judge_ns: () => [1, check('judge')],
    schema_result_ns: () => [1, check('result')],
    schema_big_ms: () => [1e6, check('big')],
    schema_compile_us: () => [1e3, compile(cases.result)],
};
const key = process.argv[2];
repeat(key, ...measures[key]());
