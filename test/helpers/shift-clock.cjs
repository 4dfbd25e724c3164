'use strict';
// For `node --require`: a process whose clock is off by CLOCK_OFFSET_MS. Timers are not: they ask for no time of day.
const offset = Number(process.env['CLOCK_OFFSET_MS']);
const now = Date.now;
globalThis.Date = new Proxy(Date, {
  construct: (real, args, target) =>
    Reflect.construct(real, args.length === 0 ? [now() + offset] : args, target),
  get: (real, name) => (name === 'now' ? () => now() + offset : Reflect.get(real, name)),
});
