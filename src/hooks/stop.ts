import { toolName } from "../claude/names";
import type { Result } from "../editor/methods";
import { counted } from "../lib/visible";
import type { HookCall } from "./call";
import { problemLine } from "./problem";

type Summary = NonNullable<Result<"session_summary">>;

/** The CLI (2.1.330) prints `systemMessage` for the user, as "Stop says: …". */
type StopDecision =
  | { continue: true; systemMessage?: string }
  | { decision: "block"; reason: string };

/**
 * Claude wants to end its turn. We block that while the files that it edited have problems (spec 04, phase 1), but only
 * a limited number of times for one prompt.
 */
export async function stop(call: HookCall): Promise<StopDecision> {
  const first = await call.ask("session_summary", {});
  if (!first) return { continue: true };
  if (!first.may_block || wasBlocked(call, first)) return allow(call);
  const times = { waitMs: first.timeout_ms, busyMs: first.busy_timeout_ms };
  const summary = first.settled ? first : await call.askWhenSettled("session_summary", {}, times);
  if (!summary || summary.errors + summary.warnings + summary.others === 0) {
    return allow(call, { waited: true });
  }
  await call.ask("session_blocked", {});
  return { decision: "block", reason: reason(summary, call) };
}

/**
 * Says whether this prompt has been blocked often enough. Neovim counts our own blocks by prompt: `stop_hook_active`
 * may come from another program's hook, so it decides only if the prompt has no id. The CLI accepts eight blocks in a
 * row (measured with 2.1.330).
 */
function wasBlocked({ input }: HookCall, { blocked, retries }: Summary): boolean {
  return input.prompt_id ? blocked >= retries : input.stop_hook_active === true;
}

/** Claude may stop. If Neovim does not know whether the edits have problems, a message says so to the user. */
async function allow(call: HookCall, params: { waited?: true } = {}): Promise<StopDecision> {
  const unknown = (await call.ask("session_allowed", params))?.unknown;
  if (unknown) call.log.warn(`Claude ended its turn with ${unknown}`);
  return { continue: true, ...(unknown && { systemMessage: unknown }) };
}

function reason(summary: Summary, call: HookCall): string {
  const { errors, warnings, others } = summary;
  const more = others > 0 ? ` (and ${others} of lesser severity)` : "";
  const lines = [
    `Found ${counted(errors, "error")} and ${counted(warnings, "warning")}${more} in edited files. ` +
      `Use '${toolName("get_session_diagnostics")}' to see details.`,
  ];
  if (summary.session) lines.push(`This session, ${summary.session}, edited these files.`);
  if (!summary.settled || summary.unknown) {
    const why = summary.unknown ? ` (${summary.unknown})` : "";
    lines.push(
      `Not every language server has reported in time${why}: this may be older than your last edit.`,
    );
  }
  const worst = summary.worst.map(({ path, item }) => problemLine(path, item, call.cwd));
  const total = errors + warnings + others;
  if (worst.length < total) worst.push(`… and ${total - worst.length} more`);
  return [...lines, ...worst].join("\n");
}
