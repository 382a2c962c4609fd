import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { TestClient } from "../support/client";
import { eventually } from "../support/eventually";
import { type NeovimVersion, TestNeovim } from "../support/neovim";
import { KINDS, type Kind, Random, type Target } from "./attacks";

export interface Attack {
  seed: number;
  /** How often each kind was tried, and what went wrong. */
  kinds: Record<Kind, { tries: number; failures: string[] }>;
  /** The longest that Neovim's main loop stood still, and the longest that a client waited, in ms. */
  standstillMs: number;
  witnessMs: number;
  /** After minus before. */
  growth: { executableKb: number; neovimKb: number; logBytes: number; descriptors: number };
}

/** Ticks each 5 ms in Neovim's main loop, and keeps the longest pause. */
const WATCH = `
  local last = vim.uv.hrtime()
  STANDSTILL = 0
  vim.uv.new_timer():start(0, 5, vim.schedule_wrap(function()
    local now = vim.uv.hrtime()
    STANDSTILL = math.max(STANDSTILL, (now - last) / 1e6 - 5)
    last = now
  end))`;

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
  const target: Target = { neovim, lock: await neovim.lock(), random: new Random(seed), kills: 0 };
  await neovim.lua(WATCH);
  await Bun.sleep(SETTLE_MS);
  const before = await measure(target);
  const kinds = Object.fromEntries(
    Object.keys(KINDS).map((kind) => [kind, { tries: 0, failures: [] as string[] }]),
  ) as Attack["kinds"];
  const end = performance.now() + seconds * 1000;
  let witnessMs = 0;
  while (performance.now() < end) {
    const kind = target.random.of(Object.keys(KINDS) as Kind[]);
    kinds[kind].tries++;
    const failure = await KINDS[kind](target).catch((error) => String(error));
    if (failure) kinds[kind].failures.push(failure);
    witnessMs = Math.max(witnessMs, await witness(target));
  }
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
  const rows = Object.entries(kinds).map(([kind, { tries, failures }]) => {
    const held = tries - failures.length;
    return `  ${kind.padEnd(24)}${String(tries).padStart(8)}${String(held).padStart(8)}`;
  });
  const more = Object.entries(growth).map(([name, value]) => `  growth of ${name}: ${value}`);
  const failures = Object.values(kinds).flatMap((kind) => kind.failures);
  return [
    `${`  seed ${seed}`.padEnd(26)}   tries    held`,
    ...rows,
    `  longest standstill of Neovim: ${standstillMs.toFixed(0)} ms`,
    `  longest wait of another client: ${witnessMs.toFixed(0)} ms`,
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
