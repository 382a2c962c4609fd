import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { connect } from "../nvim-lsp/client";
import { TestClient } from "../support/client";
import { eventually } from "../support/eventually";
import { isolatedEnv, type NeovimVersion, TestNeovim } from "../support/neovim";
import { FILES, KINDS, type Kind, Random, type Target } from "./attacks";

export interface Attack {
  seed: number;
  /** How often each kind was tried, what went wrong, and the longest that Neovim computed for it. */
  kinds: Record<Kind, { tries: number; failures: string[]; busyMs: number; called: string }>;
  /** The longest that Neovim's main loop stood still, which a busy machine adds to, in ms. */
  standstillMs: number;
  /** The longest that a client waited. */
  witnessMs: number;
  /** After minus before. */
  growth: { executableKb: number; neovimKb: number; logBytes: number; descriptors: number };
}

/** Ticks each 5 ms in Neovim's main loop, and keeps the longest pause, and the most computing in one. */
const WATCH = `
  local function cpu()
    local usage = vim.uv.getrusage()
    return (usage.utime.sec + usage.stime.sec) * 1e3 + (usage.utime.usec + usage.stime.usec) / 1e3
  end
  local last, last_cpu = vim.uv.hrtime(), cpu()
  STANDSTILL, BUSY = 0, 0
  vim.uv.new_timer():start(0, 5, vim.schedule_wrap(function()
    local now, now_cpu = vim.uv.hrtime(), cpu()
    STANDSTILL = math.max(STANDSTILL, (now - last) / 1e6 - 5)
    BUSY = math.max(BUSY, now_cpu - last_cpu)
    last, last_cpu = now, now_cpu
  end))`;

/** What Neovim computed since it was asked last. */
const BUSY = `
  local busy = BUSY
  BUSY = 0
  return busy`;

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
  for (const [name, text] of Object.entries(FILES)) await Bun.write(join(neovim.cwd, name), text);
  const lock = await neovim.lock();
  const server = await connect(neovim.cwd, isolatedEnv(neovim.home));
  const target: Target = { neovim, lock, random: new Random(seed), kills: 0, server, called: "" };
  await neovim.lua(WATCH);
  await Bun.sleep(SETTLE_MS);
  const before = await measure(target);
  await neovim.lua(BUSY);
  const kinds = Object.fromEntries(
    Object.keys(KINDS).map((kind) => [
      kind,
      { tries: 0, failures: [] as string[], busyMs: 0, called: "" },
    ]),
  ) as Attack["kinds"];
  const end = performance.now() + seconds * 1000;
  let witnessMs = 0;
  while (performance.now() < end) {
    const kind = target.random.of(Object.keys(KINDS) as Kind[]);
    kinds[kind].tries++;
    const failure = await KINDS[kind](target).catch((error) => String(error));
    if (failure) kinds[kind].failures.push(failure);
    const waitedMs = await witness(target).catch((error) => `${target.called}: ${error}`);
    if (typeof waitedMs === "string") {
      kinds[kind].failures.push(waitedMs);
      // It may wait for a key.
      await neovim.request("nvim_input", ["<CR>"]);
    } else witnessMs = Math.max(witnessMs, waitedMs);
    const busyMs = await neovim.lua<number>(BUSY);
    if (busyMs > kinds[kind].busyMs) Object.assign(kinds[kind], { busyMs, called: target.called });
  }
  await server.close();
  await Bun.sleep(SETTLE_MS);
  const after = await measure(target);
  if (existsSync(join(neovim.cwd, "PWNED"))) kinds.call.failures.push("a name was run");
  const standstillMs = await neovim.lua<number>("return STANDSTILL");
  const growth = Object.fromEntries(
    Object.entries(after).map(([name, value]) => [
      name,
      value - before[name as keyof typeof before],
    ]),
  ) as Attack["growth"];
  return { seed, kinds, standstillMs, witnessMs, growth };
}

/** The table of `scripts/soak --attack`. */
export function table({ seed, kinds, standstillMs, witnessMs, growth }: Attack): string[] {
  const rows = Object.entries(kinds).map(([kind, { tries, failures, busyMs }]) => {
    const cells = [tries, tries - failures.length, `${busyMs.toFixed(0)} ms`];
    return `  ${kind.padEnd(24)}${cells.map((cell) => String(cell).padStart(8)).join("")}`;
  });
  const more = Object.entries(growth).map(([name, value]) => `  growth of ${name}: ${value}`);
  const failures = Object.values(kinds).flatMap((kind) => kind.failures);
  const busiest = [kinds.call, kinds.proposal, kinds.lsp].map(
    ({ called }) => `  computed most for ${called}`,
  );
  return [
    `${`  seed ${seed}`.padEnd(26)}   tries    held computed`,
    ...rows,
    `  longest standstill of Neovim: ${standstillMs.toFixed(0)} ms`,
    `  longest wait of another client: ${witnessMs.toFixed(0)} ms`,
    ...busiest,
    ...more,
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

function kilobytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
}
