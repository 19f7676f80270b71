// repeat.mjs - bench/repeat.h for the peers: the median of batches of calls.
//
// A program measures the case it is asked for, in a process of its own, so that what the engine
// learnt from one case neither helps nor spoils another.
const batches = 101, batchNs = 1e6, warmUp = 1000;

function batch(run, times) {
    const start = process.hrtime.bigint();
    for (let i = 0; i < times; i++)
        if (run() === undefined)
            throw new Error('a round went wrong');
    return Number(process.hrtime.bigint() - start);
}

// Batches grow until one is long enough.  A second more is for warming up: the compiler works
// beside the program, and on a busy machine it takes that long until nothing changes any more.
function median(run) {
    let times = 1, spent;
    while ((spent = batch(run, times)) < batchNs)
        times = spent * 16 < batchNs ? times * 16 : Math.ceil(1.1 * times * batchNs / spent);
    for (let i = 0; i < warmUp; i++)
        batch(run, times);
    const all = Array.from({ length: batches }, () => batch(run, times) / times);
    return all.sort((a, b) => a - b)[batches >> 1];
}

export const repeat = (name, unitNs, run) => console.log(name, (median(run) / unitNs).toPrecision(4));
