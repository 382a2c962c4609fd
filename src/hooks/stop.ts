import { PLUGIN_NAME, SERVER_NAME } from "../claude/names";
import type { Diagnostic } from "../editor/model";
import type { HookCall, Via } from "./call";
import { problemLine } from "./problem";

/** What `session_summary` answers (lua/claude-code/editor/session). */
interface Summary {
  settled: boolean;
  block: boolean;
  deadline_ms: number;
  retries: number;
  held: number;
  errors: number;
  warnings: number;
  others: number;
  worst: { path: string; item: Diagnostic }[];
}

export type StopDecision = { continue: true } | { decision: "block"; reason: string };

const GO: StopDecision = { continue: true };

/**
 * Claude wants to end its turn: not while the files it edited have problems (spec 04, phase 1), but
 * it is held back only so often for one prompt.
 */
export async function stop(call: HookCall): Promise<StopDecision> {
  const ask = () => call.ask("session_summary") as Promise<Summary | undefined>;
  const first = await ask();
  if (!first) return GO;
  if (!first.block || mustGo(call, first)) return release(call);
  const summary = await call.whenSettled(first, first.deadline_ms, ask);
  if (!summary || summary.errors + summary.warnings + summary.others === 0) return release(call);
  await call.ask("session_held");
  return { decision: "block", reason: reason(summary, call) };
}

/**
 * Our own blocks are counted where the prompt is named: the flag may stem from somebody else's
 * hook. The CLI itself would honour eight in a row (measured with 2.1.330).
 */
function mustGo({ input }: HookCall, { held, retries }: Summary): boolean {
  return input.prompt_id ? held >= retries : input.stop_hook_active === true;
}

async function release(call: HookCall): Promise<StopDecision> {
  await call.ask("session_released");
  return GO;
}

function reason(summary: Summary, call: HookCall): string {
  const { errors, warnings, others } = summary;
  const more = others > 0 ? ` (and ${others} of lesser severity)` : "";
  const lines = [
    `Found ${errors} errors and ${warnings} warnings${more} in edited files. ` +
      `Use '${detailTool(call.via)}' to see details.`,
  ];
  if (!summary.settled) {
    lines.push(
      "Not every language server has reported in time: this may be older than your last edit.",
    );
  }
  const worst = summary.worst.map(({ path, item }) => problemLine(path, item, call.cwd));
  const total = errors + warnings + others;
  if (worst.length < total) worst.push(`… and ${total - worst.length} more`);
  return [...lines, ...worst].join("\n");
}

/** Claude Code gives the tools of its plugins' servers another prefix. */
function detailTool(via: Via): string {
  const server = via === "plugin" ? `plugin_${PLUGIN_NAME}_${SERVER_NAME}` : SERVER_NAME;
  return `mcp__${server}__get_session_diagnostics`;
}
