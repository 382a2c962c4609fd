import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { connect } from "../../test/nvim-lsp/client";
import { TestClient } from "../../test/support/client";
import { eventually } from "../../test/support/eventually";
import { isolatedEnv, type NeovimVersion, TestNeovim } from "../../test/support/neovim";
import { FILES, KINDS, type Kind, OPEN_FILES, Random, type Target } from "./attacks";

export interface Attack {
  seed: number;
  /** How often each kind was tried, what went wrong, and the longest that Neovim computed for it, in ms. */
  kinds: Record<Kind, { tries: number; failures: string[]; computedMs: number }>;
  /** Those in which Neovim computed most, that first. */
  worst: (Pause & { called: string })[];
  /** The most of each. */
  most: Pause;
  /** The longest that a client waited. */
  witnessMs: number;
  /** The share of the processors' time that a virtual machine's host took: it adds to all times. */
  stolen: number;
  /** After minus before. */
  growth: { executableKb: number; neovimKb: number; logBytes: number; descriptors: number };
}

/**
 * Ticks each ms in Neovim's main loop. Of each pause between two ticks: the time that passed, to which a
 * busy machine adds, and the processor time of Neovim, without that of Neovim's own tree-sitter, which reads
 * the queries of a language again whenever they have been forgotten.
 */
const WATCH = `
  local ffi = require("ffi")
  ffi.cdef("typedef struct { long s; long ns; } attack_time; int clock_gettime(int, attack_time *);")
  local time, THREAD_CPU = ffi.new("attack_time"), 3
  -- Of the main thread alone, in ms: /proc knows it only to a tick of 4 ms.
  local function cpu()
    ffi.C.clock_gettime(THREAD_CPU, time)
    return tonumber(time.s) * 1e3 + tonumber(time.ns) / 1e6
  end
  local parsing, depth = 0, 0
  local function count(holder, name)
    local original = holder[name]
    local function ended(began, ok, ...)
      depth = depth - 1
      parsing = parsing + (depth == 0 and cpu() - began or 0)
      if not ok then error((...), 0) end
      return ...
    end
    holder[name] = function(...)
      depth = depth + 1
      return ended(cpu(), pcall(original, ...))
    end
  end
  count(vim.treesitter.query, "get")
  count(require("vim.treesitter.languagetree"), "parse")
  local last, last_cpu = vim.uv.hrtime(), cpu()
  PAUSES = {}
  vim.uv.new_timer():start(0, 1, vim.schedule_wrap(function()
    local now, now_cpu = vim.uv.hrtime(), cpu()
    local passed = (now - last) / 1e6 - 1
    local computed = now_cpu - last_cpu - parsing
    if math.max(passed, computed, parsing) > 2 then
      table.insert(PAUSES, { passed = passed, computed = computed, parsing = parsing })
    end
    last, last_cpu, parsing = now, now_cpu, 0
  end))`;

/** The pauses since it was asked last. */
const PAUSES = `
  local pauses = PAUSES
  PAUSES = {}
  return pauses`;

/** Of Neovim's main loop, in ms. */
interface Pause {
  /** By the clock. */
  passed: number;
  /** Of Neovim's processor time, without `parsing`. */
  computed: number;
  /** By tree-sitter. */
  parsing: number;
}

const WORST = 5;

const SETTLE_MS = 1_000;

/**
 * Attacks a real Neovim for some seconds, in an order that the seed decides, while another client asks
 * and measures. What should not hold stands in `failures`.
 */
export async function attack(
  version: NeovimVersion,
  seconds: number,
  seed: number,
): Promise<Attack> {
  await using neovim = await TestNeovim.start({ version, ui: { width: 120, height: 40 } });
  for (const [name, text] of Object.entries({ ...FILES, ...OPEN_FILES })) {
    await Bun.write(join(neovim.cwd, name), text);
  }
  for (const name of Object.keys(OPEN_FILES)) await neovim.command(`silent edit ${name}`);
  const lock = await neovim.lock();
  const server = await connect(neovim.cwd, isolatedEnv(neovim.home));
  const target: Target = { neovim, lock, random: new Random(seed), kills: 0, server, called: "" };
  await neovim.lua(WATCH);
  await Bun.sleep(SETTLE_MS);
  const before = await measure(target);
  const processorsBefore = processors();
  await neovim.lua(PAUSES);
  const kinds = Object.fromEntries(
    Object.keys(KINDS).map((kind) => [kind, { tries: 0, failures: [], computedMs: 0 }]),
  ) as unknown as Attack["kinds"];
  const pauses: Attack["worst"] = [];
  const end = performance.now() + seconds * 1000;
  let witnessMs = 0;
  while (performance.now() < end) {
    const name = target.random.of(Object.keys(KINDS) as Kind[]);
    const kind = kinds[name];
    kind.tries++;
    target.called = name;
    const failure = await KINDS[name](target).catch((error) => String(error));
    if (failure) kind.failures.push(failure);
    const waitedMs = await witness(target).catch((error) => `${target.called}: ${error}`);
    if (typeof waitedMs === "string") {
      kind.failures.push(waitedMs);
      // It may wait for a key.
      await neovim.request("nvim_input", ["<CR>"]);
    } else witnessMs = Math.max(witnessMs, waitedMs);
    const now = await neovim.lua<Pause[]>(PAUSES);
    pauses.push(...now.map((pause) => ({ ...pause, called: target.called })));
    kind.computedMs = Math.max(kind.computedMs, ...now.map(({ computed }) => computed));
  }
  await server.close();
  await Bun.sleep(SETTLE_MS);
  const after = await measure(target);
  const stolen = stolenSince(processorsBefore);
  if (existsSync(join(neovim.cwd, "PWNED"))) kinds.call.failures.push("a name was run");
  const growth = Object.fromEntries(
    Object.entries(after).map(([name, value]) => [
      name,
      value - before[name as keyof typeof before],
    ]),
  ) as Attack["growth"];
  const worst = pauses.toSorted((a, b) => b.computed - a.computed).slice(0, WORST);
  const of = (name: keyof Pause) => Math.max(0, ...pauses.map((pause) => pause[name]));
  const most = { passed: of("passed"), computed: of("computed"), parsing: of("parsing") };
  return { seed, kinds, worst, most, witnessMs, stolen, growth };
}

/** The table of `scripts/soak --attack`. */
export function table({ seed, kinds, worst, most, witnessMs, stolen, growth }: Attack): string[] {
  const ms = (value: number) => `${value.toFixed(0)} ms`;
  const rows = Object.entries(kinds).map(([kind, { tries, failures, computedMs }]) => {
    const cells = [tries, tries - failures.length, ms(computedMs)];
    return `  ${kind.padEnd(24)}${cells.map((cell) => String(cell).padStart(8)).join("")}`;
  });
  const failures = Object.values(kinds).flatMap((kind) => kind.failures);
  return [
    `${`  seed ${seed}`.padEnd(26)}   tries    held computed`,
    ...rows,
    `  the most that Neovim computed without a pause: ${ms(most.computed)}`,
    `  the most that its tree-sitter computed: ${ms(most.parsing)}`,
    `  its longest standstill by the clock: ${ms(most.passed)}`,
    `  longest wait of another client: ${ms(witnessMs)}`,
    `  taken by this machine's host: ${(100 * stolen).toFixed(1)} % of the processors' time`,
    ...Object.entries(growth).map(([name, value]) => `  growth of ${name}: ${value}`),
    "  computed  tree-sitter  passed  during",
    ...worst.map(({ computed, parsing, passed, called }) => {
      const cells = [ms(computed).padStart(10), ms(parsing).padStart(13), ms(passed).padStart(8)];
      return `${cells.join("")}  ${called}`;
    }),
    ...failures.map((failure) => `  DID NOT HOLD: ${failure}`),
  ];
}

/** How long an ordinary client waits, from its connection to Neovim's answer. */
async function witness({ lock }: Target): Promise<number> {
  const start = performance.now();
  using client = await eventually("the witness's connection", () => TestClient.open(lock));
  await eventually("Neovim's answer", () => client.json("getOpenEditors"));
  return performance.now() - start;
}

async function measure({ neovim }: Target): Promise<Attack["growth"]> {
  const pid = await eventually("the executable", () =>
    neovim.lua<number>(`return require("claude-code").status().process_id`),
  );
  const log = join(neovim.home, ".local/state/nvim/claude-code.log");
  return {
    executableKb: kilobytes(pid),
    neovimKb: kilobytes(neovim.process.pid as number),
    logBytes: existsSync(log) ? statSync(log).size : 0,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
  };
}

/** Of all processors, in ticks: user, nice, system, idle, waiting, two interrupts, stolen, … */
function processors(): number[] {
  const [line = ""] = readFileSync("/proc/stat", "utf8").split("\n");
  return line.split(/\s+/).slice(1, 9).map(Number);
}

function stolenSince(before: readonly number[]): number {
  const ticks = processors().map((now, i) => now - (before[i] ?? 0));
  return (ticks[7] ?? 0) / ticks.reduce((sum, one) => sum + one, 0);
}

function kilobytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
}
