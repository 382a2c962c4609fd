import { existsSync } from "node:fs";
import type { EndedCall } from "../review/unrecorded";
import { callOf } from "./calls";
import { type Item, itemsOf, type ToolCall, type ToolResult } from "./entries";
import { TranscriptFile } from "./file";
import { type Step, stepOf } from "./trail";

/** It contains the last usage, unless a result is longer. */
const TAIL_BYTES = 256 * 1024;

/** No one follows more at once. */
const MAX_STEPS = 50;

/** News of a conversation for Neovim, which does not show it. */
interface News {
  /** How full the model's context is: tokens, and the share where its size is known. */
  tokens?: number;
  share?: number;
  /** A call that Claude has begun, or an edit whose lines are known now. */
  steps: Step[];
}

/** A conversation that is only watched: how full its context is, and what Claude reads and edits. */
export class WatchedTranscript {
  readonly #file: TranscriptFile;
  readonly #calls = new Map<string, ToolCall>();
  readonly #since = Date.now();
  /** As the CLI names it: an answer's `model` says nothing of a larger context. */
  #model: string | undefined;
  /** Whether all that is in the file came after the watch began. */
  #isNew = false;

  /** `onEnded` gets each call that begins from now on: a file may begin with a copy of another one. */
  constructor(
    readonly path: string,
    private readonly onEnded?: (call: Omit<EndedCall, "session">) => void,
  ) {
    this.#file = new TranscriptFile(path);
  }

  /** Additions since the last call; only the usage for the first one. Throws if the file cannot be read. */
  news(): News | undefined {
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
    const { id: use, name: tool, input, at: began = 0 } = call;
    if (began < this.#since) return;
    const isVague = failed || detail.backgroundTaskId !== undefined;
    const durationMs = (at ?? began) - began;
    const command = typeof input.command === "string" ? input.command : undefined;
    this.onEnded?.({
      use,
      tool,
      prompt,
      command,
      path: callOf(call).path,
      response: detail,
      began,
      durationMs,
      isVague,
    });
  }
}

/** Context windows of models, as the CLI (2.1.330) knows them; of any other only the tokens are known. */
const WINDOWS: [model: RegExp, tokens: number][] = [
  [/\[1m\]|^claude-([a-z]+-5|opus-4-[78])\b/i, 1_000_000],
  [/^claude-(3|(opus|sonnet|haiku)-4)/, 200_000],
];

function contextOf(tokens: number, model: string): Pick<News, "tokens" | "share"> {
  const window = WINDOWS.find(([pattern]) => pattern.test(model))?.[1] ?? 0;
  return { tokens, ...(tokens <= window && { share: tokens / window }) };
}
