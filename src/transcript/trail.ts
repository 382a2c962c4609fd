import { Privacy } from "../review/record/privacy";
import { type Call, callOf } from "./calls";
import { type Item, itemsOf, type ToHost, type ToolCall, type ToolResult } from "./entries";
import { type Line, TranscriptFile } from "./file";
import { changedLines } from "./markdown";

/** A place that Claude read, searched or edited. */
export interface Step {
  act: NonNullable<Call["act"]>;
  /** Absolute. */
  path: string;
  /** 1-based lines, the last one included. */
  first?: number;
  last?: number;
  /** A path with lines, or a pattern, in Claude's words. */
  subject: string;
}

const PART_BYTES = 1024 * 1024;
const MAX_STEPS = 1_000;

/** The part of an entry that the trail needs. */
type Kept = "prompt" | { id: string; step: Step };
/** The result of a call that failed, or that edited known lines. */
type Outcome = { failed: boolean } & ReturnType<typeof changedLines>;
type Turn = number | "last" | "all";

/**
 * Lists the steps of the main agent in order: those of one turn (number 1 belongs to the first prompt), or all. Returns
 * at most the last MAX_STEPS; `left_out` counts earlier steps, `hidden` those about private files. Throws if the file
 * cannot be read.
 */
export function trailOf(path: string, turn: Turn, toHost?: ToHost) {
  const file = new TranscriptFile(path);
  const outcomes = new Map<string, Outcome>();
  const kept = (line: Line) => keptOf(itemsOf(line, toHost), outcomes);
  let part = file.appended().lines.flatMap(kept);
  const parts = [part];
  while (!file.isWhole && !(turn === "last" && part.includes("prompt"))) {
    part = file.earlier(PART_BYTES).flatMap(kept);
    parts.push(part);
  }
  const all = inTurn(parts.toReversed().flat(), turn).flatMap((one) => {
    if (one === "prompt") return [];
    const { failed, ...lines } = outcomes.get(one.id) ?? { failed: false };
    if (failed) return [];
    return [one.step.act === "edited" ? { ...one.step, ...lines } : one.step];
  });
  const last = all.slice(-MAX_STEPS);
  const privacy = new Privacy();
  const steps = last.filter(({ path }) => !privacy.isPrivate(path));
  return { steps, hidden: last.length - steps.length, left_out: all.length - last.length };
}

function keptOf(items: readonly Item[], outcomes: Map<string, Outcome>): Kept[] {
  return items.flatMap((item): Kept[] => {
    if (item.kind === "prompt") return ["prompt"];
    if (item.kind === "tool") return stepOf(item).map((step) => ({ id: item.id, step }));
    if (item.kind !== "result") return [];
    const { id, failed } = item;
    const lines = changedLines(item);
    if (failed || lines.first !== undefined) outcomes.set(id, { failed, ...lines });
    return [];
  });
}

function inTurn(kept: readonly Kept[], turn: Turn): readonly Kept[] {
  if (turn === "all") return kept;
  const prompts = kept.flatMap((one, index) => (one === "prompt" ? [index] : []));
  const at = turn === "last" ? prompts.length - 1 : turn - 1;
  return prompts[at] === undefined ? [] : kept.slice(prompts[at], prompts[at + 1]);
}

/** The call as a step; an empty list if the call does not name a file, or failed. */
export function stepOf(tool: ToolCall, result?: ToolResult): Step[] {
  const { name: _, act, path, subject, ...lines } = callOf(tool);
  if (act === undefined || path === undefined || result?.failed) return [];
  const edited = act === "edited" && result && changedLines(result);
  return [{ act, path, subject, ...lines, ...edited }];
}
