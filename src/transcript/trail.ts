import { Privacy } from "../review/record/privacy";
import { type Call, callOf } from "./calls";
import { type Item, itemsOf, type ToHost, type ToolCall, type ToolResult } from "./entries";
import { type Line, TranscriptFile } from "./file";
import { lineOf } from "./markdown";

/** A place that Claude read, searched or edited. */
export interface Step {
  act: NonNullable<Call["act"]>;
  /** Absolute. */
  path: string;
  /** 1-based lines, the last one included. */
  first?: number;
  last?: number;
  /** As Claude names it: a path with lines, or a pattern. */
  subject: string;
}

/** The trail of a conversation, from its end. */
interface Trail {
  steps: Step[];
  /** The number of calls about private files, which are not listed. */
  hidden: number;
  /** The number of earlier steps. */
  left_out: number;
}

const PART_BYTES = 1024 * 1024;
const MAX_STEPS = 1_000;

/** The part of an entry that the trail keeps. */
type Kept = "prompt" | { id: string; step: Step };
/** The outcome of a call that did not simply succeed. */
type Outcome = { failed: boolean } & ReturnType<typeof lineOf>;

/**
 * The steps of a conversation in their order, subagents' aside: of all of it, of the turn with a number
 * (1 is the first prompt's), or of the last one. Throws if the file cannot be read.
 */
export function trailOf(path: string, turn: number | "last" | "all", toHost?: ToHost): Trail {
  const file = new TranscriptFile(path);
  const outcomes = new Map<string, Outcome>();
  const kept = (line: Line) => keptOf(itemsOf(line, toHost), outcomes);
  let part = file.appended().lines.flatMap(kept);
  const parts = [part];
  while (!file.isWhole && !(turn === "last" && part.includes("prompt"))) {
    part = file.earlier(PART_BYTES).flatMap(kept);
    parts.push(part);
  }
  return trail(ofTurn(parts.toReversed().flat(), turn), outcomes);
}

function keptOf(items: readonly Item[], outcomes: Map<string, Outcome>): Kept[] {
  return items.flatMap((item): Kept[] => {
    if (item.kind === "prompt") return ["prompt"];
    if (item.kind === "tool") return stepOf(item).map((step) => ({ id: item.id, step }));
    if (item.kind !== "result") return [];
    const { id, failed } = item;
    const lines = lineOf(item);
    if (failed || lines.first !== undefined) outcomes.set(id, { failed, ...lines });
    return [];
  });
}

function ofTurn(kept: readonly Kept[], turn: number | "last" | "all"): readonly Kept[] {
  if (turn === "all") return kept;
  const prompts = kept.flatMap((one, index) => (one === "prompt" ? [index] : []));
  const at = turn === "last" ? prompts.length - 1 : turn - 1;
  return prompts[at] === undefined ? [] : kept.slice(prompts[at], prompts[at + 1]);
}

function trail(kept: readonly Kept[], outcomes: ReadonlyMap<string, Outcome>): Trail {
  const all = kept.flatMap((one) => {
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

/** The step that a call is; none of one that is about no file, or has failed. */
export function stepOf(tool: ToolCall, result?: ToolResult): Step[] {
  const { name: _, act, path, subject, ...lines } = callOf(tool);
  if (act === undefined || path === undefined || result?.failed) return [];
  return [{ act, path, subject, ...lines, ...(act === "edited" && result && lineOf(result)) }];
}
