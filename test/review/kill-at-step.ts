/**
 * Preloaded into a program: kills it (SIGKILL) instead of its call number `KILL_AT`, from 1, that would
 * change anything on disk.
 */
const fs = require("node:fs");

const CHANGING = [
  ...["writeSync", "writeFileSync", "renameSync", "rmSync", "unlinkSync", "linkSync"],
  ...["chmodSync", "mkdirSync", "ftruncateSync", "utimesSync"],
];
const at = Number(process.env.KILL_AT);
let calls = 0;

for (const name of CHANGING) {
  const call = fs[name];
  fs[name] = (...args: unknown[]) => {
    calls += 1;
    if (calls === at) process.kill(process.pid, "SIGKILL");
    return call(...args);
  };
}
