import { existsSync } from "node:fs";
import type { EndedCall } from "../review/unrecorded";
import { callOf } from "./calls";
import { type Item, itemsOf, type ToolCall, type ToolResult } from "./entries";
import { TranscriptFile } from "./file";
import { type Step, stepOf } from "./trail";

/** The last usage is within these bytes, unless a longer result follows it. */
const TAIL_BYTES = 256 * 1024;

/** No user can follow more steps at once. */
const MAX_STEPS = 50;

/** Watches a conversation that Neovim does not show: how full its context is, and what Claude reads and edits. */
export class WatchedTranscript {
  readonly #file: TranscriptFile;
  readonly #calls = new Map<string, ToolCall>();
  readonly #since = Date.now();
  /** The CLI's name of the model. An answer's `model` does not show whether the context is the larger one. */
  #model: string | undefined;
  /** Whether the file was created after the watch began. */
  #isNew = false;

  /** `onEnded` gets calls that begin from now on. A file may begin with a copy of another conversation. */
  constructor(
    readonly path: string,
    private readonly onEnded?: (call: Omit<EndedCall, "session" | "off">) => void,
  ) {
    this.#file = new TranscriptFile(path);
  }

  /**
   * Returns how full the context is, and the steps since the last call: calls that Claude began, and edits whose lines
   * are now known. The first call returns no steps of an older file. Throws if the file cannot be read.
   */
  news() {
    if (!existsSync(this.path)) this.#isNew = true;
    const { lines, restarted } = this.#file.appended();
    const before = restarted ? this.#file.earlier(TAIL_BYTES) : [];
    const items = [...before, ...lines].flatMap((line) => itemsOf(line));
    const usage = items.findLast((item) => item.kind === "usage")?.usage;
    this.#model = items.findLast((item) => item.kind === "model")?.name ?? this.#model;
    const all = items.flatMap((item) => this.#step(item));
    const steps = restarted && !this.#isNew ? [] : all.slice(-MAX_STEPS);
    this.#isNew = false;
    if (!usage && steps.length === 0) return undefined;
    return { ...(usage && contextOf(usage.tokens, this.#model ?? usage.model)), steps };
  }

  #step(item: Item): Step[] {
    if (item.kind === "tool") {
      this.#calls.set(item.id, item);
      return stepOf(item);
    }
    const call = item.kind === "result" && this.#calls.get(item.id);
    if (!call) return [];
    this.#calls.delete(item.id);
    this.#end(call, item);
    return stepOf(call, item).filter(({ act }) => act === "edited");
  }

  #end(call: ToolCall, { detail, failed, prompt, at }: ToolResult): void {
    const { input, at: began = 0 } = call;
    if (began < this.#since) return;
    this.onEnded?.({
      use: call.id,
      tool: call.name,
      prompt,
      command: typeof input.command === "string" ? input.command : undefined,
      path: callOf(call).path,
      response: detail,
      began,
      durationMs: (at ?? began) - began,
      isVague: failed || detail.backgroundTaskId !== undefined,
    });
  }
}

/** The CLI's (2.1.330) context windows, in tokens. We show no percentage for other models. */
const WINDOWS: [model: RegExp, tokens: number][] = [
  [/\[1m\]|^claude-([a-z]+-5|opus-4-[78])\b/i, 1_000_000],
  [/^claude-(3|(opus|sonnet|haiku)-4)/, 200_000],
];

function contextOf(tokens: number, model: string) {
  const window = WINDOWS.find(([pattern]) => pattern.test(model))?.[1] ?? 0;
  return { tokens, ...(tokens <= window && { share: tokens / window }) };
}
