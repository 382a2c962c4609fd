import { PLUGIN_NAME, SERVER_NAME } from "../claude/names";
import type { Diagnostic } from "../editor/model";
import type { HookCall, Installation } from "./call";
import { problemLine } from "./problem";

/** What `session_summary` answers (lua/claude-code/editor/session). */
interface Summary {
  settled: boolean;
  may_block: boolean;
  timeout_ms: number;
  retries: number;
  blocked: number;
  errors: number;
  warnings: number;
  others: number;
  worst: { path: string; item: Diagnostic }[];
}

export type StopDecision = { continue: true } | { decision: "block"; reason: string };

/**
 * Claude wants to end its turn: not while the files it edited have problems (spec 04, phase 1), but
 * it is blocked only so often for one prompt.
 */
export async function stop(call: HookCall): Promise<StopDecision> {
  const first = (await call.ask("session_summary")) as Summary | undefined;
  if (!first) return { continue: true };
  if (!first.may_block || wasBlocked(call, first)) return allow(call);
  const summary = first.settled ? first : await settledSummary(call, first.timeout_ms);
  if (!summary || summary.errors + summary.warnings + summary.others === 0) return allow(call);
  await call.ask("session_blocked");
  return { decision: "block", reason: reason(summary, call) };
}

async function settledSummary(call: HookCall, waitMs: number): Promise<Summary | undefined> {
  return (await call.askWhenSettled("session_summary", {}, waitMs)) as Summary | undefined;
}

/**
 * Was this prompt blocked often enough? Our own blocks are counted where the prompt is named: the
 * flag may stem from another hook. The CLI itself would honour eight in a row (measured with 2.1.330).
 */
function wasBlocked({ input }: HookCall, { blocked, retries }: Summary): boolean {
  return input.prompt_id ? blocked >= retries : input.stop_hook_active === true;
}

async function allow(call: HookCall): Promise<StopDecision> {
  await call.ask("session_allowed");
  return { continue: true };
}

function reason(summary: Summary, call: HookCall): string {
  const { errors, warnings, others } = summary;
  const more = others > 0 ? ` (and ${others} of lesser severity)` : "";
  const lines = [
    `Found ${errors} errors and ${warnings} warnings${more} in edited files. ` +
      `Use '${detailTool(call.installation)}' to see details.`,
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
function detailTool(installation: Installation): string {
  const server = installation === "plugin" ? `plugin_${PLUGIN_NAME}_${SERVER_NAME}` : SERVER_NAME;
  return `mcp__${server}__get_session_diagnostics`;
}
