/** `scripts/bench` measures, and prints a table. That file describes the arguments. */
import { mkdtempSync, rmSync } from "node:fs";
import { arch, cpus, loadavg, platform, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { NEWEST, ROOT } from "../test/support/neovim";
import { against } from "./against";
import { bigDiff } from "./big-diff";
import { bigReview } from "./big-review";
import { cli } from "./cli";
import { cursor } from "./cursor";
import { hookRun } from "./hook-run";
import { longJournal } from "./long-journal";
import { table } from "./report";
import { roundTrips } from "./round-trips";
import { type Machine, ownSubject, type Scenario, type Subject, type Values } from "./scenario";
import { standstill } from "./standstill";
import { startup } from "./startup";

const SCENARIOS = [
  startup,
  cursor,
  roundTrips,
  standstill,
  bigDiff,
  bigReview,
  hookRun,
  longJournal,
  cli,
];

const { values: options } = parseArgs({
  args: process.argv.slice(2),
  options: {
    runtimepath: { type: "string", multiple: true, default: [] },
    setup: { type: "string", multiple: true, default: [] },
    name: { type: "string", multiple: true, default: [] },
    only: { type: "string", multiple: true, default: [] },
    against: { type: "string" },
    nvim: { type: "string", default: NEWEST.binary },
    rounds: { type: "string", default: "3" },
    quick: { type: "boolean", default: false },
  },
});

/** The round with the least disturbance counts; for memory, the highest value. */
function keep(known: Values, found: Values): void {
  for (const [id, value] of Object.entries(found)) {
    const before = known[id] ?? value;
    known[id] = id.startsWith("memory") ? Math.max(before, value) : Math.min(before, value);
  }
}

function peers(): Subject[] {
  return options.runtimepath.map((runtimepath, i) => {
    const setup = options.setup[i];
    if (!setup) throw new Error(`--runtimepath ${runtimepath} needs a --setup 'LINE OF LUA'`);
    return { name: options.name[i] ?? `plugin ${i + 1}`, runtimepath, setup };
  });
}

function chosen(): Scenario[] {
  const unknown = options.only.find((name) => !SCENARIOS.some((known) => known.name === name));
  if (unknown) {
    const names = SCENARIOS.map(({ name }) => name).join(", ");
    throw new Error(`--only ${unknown}: there is no such scenario; there are ${names}`);
  }
  return SCENARIOS.filter(({ name }) => options.only.length === 0 || options.only.includes(name));
}

async function compileBare(folder: string): Promise<string> {
  const outfile = join(folder, "bare");
  await Bun.build({
    entrypoints: [join(import.meta.dir, "bare-program.ts")],
    minify: true,
    bytecode: true,
    compile: { outfile, autoloadDotenv: false, autoloadBunfig: false },
  });
  return outfile;
}

async function run(machine: Machine, subjects: Subject[], rounds: number): Promise<string> {
  const floors: Values = {};
  const found = new Map<string, Values>(subjects.map(({ name }) => [name, {}]));
  for (let round = 1; round <= rounds; round++) {
    for (const scenario of chosen()) {
      keep(floors, await scenario.floor(machine));
      for (const subject of subjects) {
        process.stderr.write(`round ${round} of ${rounds}: ${scenario.name}, ${subject.name}\n`);
        const measured = await scenario.measure(machine, subject);
        keep(found.get(subject.name) as Values, measured.values);
        // Use the floors measured with our own values: another plugin's may vary.
        if (subject === subjects[0]) keep(floors, measured.floors ?? {});
      }
    }
  }
  const [neovim] = Bun.spawnSync([machine.nvim, "--version"]).stdout.toString().split("\n");
  const [processor] = cpus();
  const about = [
    `${processor?.model}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GB`,
    `${platform()} ${arch()}; ${neovim}; best of ${rounds} rounds; load ${loadavg()[0]?.toFixed(1)}`,
  ];
  return `${about.join(", ")}\n\n${table(floors, found)}`;
}

const folder = mkdtempSync(join(tmpdir(), "ccn-bench-"));
try {
  const machine = {
    nvim: options.nvim,
    bare: await compileBare(folder),
    effort: options.quick ? 0.05 : 1,
  };
  const rounds = options.quick ? 1 : Number(options.rounds);
  const text = options.against
    ? await against(options.against, rounds, machine, chosen())
    : await run(machine, [ownSubject(ROOT), ...peers()], rounds);
  // The neovim package replaces console.log.
  process.stdout.write(`${text}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
