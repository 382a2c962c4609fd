import * as v from "valibot";
import type { Transport } from "../jsonrpc/message";
import { parseJson } from "../lib/json";
import { LIMITS, type Wire } from "./wire";

/** A channel carries a client of the IDE server, a hook, a client of nvim-lsp, a mod's request, or a copied conversation. */
const KINDS = ["ide", "hook", "mcp", "mod", "conversation"] as const;
export type Kind = (typeof KINDS)[number];

const Frame = v.variant("t", [
  v.object({
    t: v.literal("open"),
    ch: v.pipe(v.number(), v.integer(), v.minValue(1)),
    kind: v.picklist(KINDS),
    d: v.optional(v.string(), ""),
  }),
  v.object({ t: v.literal("data"), ch: v.number(), d: v.string() }),
  v.object({ t: v.literal("close"), ch: v.number() }),
  v.object({ t: v.literal("ping") }),
]);
type Frame = v.InferInput<typeof Frame>;

/** One stream of messages between relay and link. */
export interface Channel extends Transport {
  readonly kind: Kind;
  /** Closes the channel at both ends. Calls `onClose` only at the other end. */
  close(): void;
}

/** All channels of a connection. Both ends open channels. Each frame is a line of JSON. */
export class Channels {
  readonly #open = new Map<number, Channel>();
  #last: number;
  /** Counts the channels that the other end has opened within a second. */
  #opened = { count: 0, since: 0 };
  /** The other end does not read, or is gone. We no longer send to it, or accept anything from it. */
  #isStuck = false;

  /** `onOpen` is called when the other end opens a channel. It must set the channel's receivers synchronously. */
  constructor(
    private readonly wire: Wire,
    private readonly end: "relay" | "link",
    private readonly onOpen: (channel: Channel, d: string) => void,
    private readonly onRefuse: (cause: string) => void = () => {},
  ) {
    this.#last = end === "relay" ? 1 : 0;
  }

  /** Returns undefined if the limit is reached. */
  open(kind: Kind, d = ""): Channel | undefined {
    if (this.#open.size >= LIMITS.channels) return undefined;
    // The relay's channels have odd numbers, the link's have even ones.
    this.#last += 2;
    this.#send({ t: "open", ch: this.#last, kind, d });
    return this.#add(this.#last, kind);
  }

  ping(): void {
    this.#send({ t: "ping" });
  }

  /** Reads until the end, or until nothing arrives for `silenceMs`. Rejects if the other end violates the protocol. */
  async pass(silenceMs: number): Promise<"ended" | "silent"> {
    const silent = Promise.withResolvers<"silent">();
    const timer = setTimeout(() => silent.resolve("silent"), silenceMs);
    const passed = async () => {
      for await (const line of this.wire.lines) {
        timer.refresh();
        this.#receive(line);
      }
      return "ended" as const;
    };
    try {
      return await Promise.race([silent.promise, passed()]);
    } finally {
      clearTimeout(timer);
    }
  }

  #receive(line: string): void {
    if (this.#isStuck) throw new Error("it does not read our messages");
    const { success, output: frame } = v.safeParse(Frame, parseJson(line));
    if (!success) throw new Error("it sent a line in the wrong format");
    switch (frame.t) {
      case "open":
        return this.#accept(frame.ch, frame.kind, frame.d);
      case "data":
        // The other end may not know yet that we have closed the channel.
        return this.#open.get(frame.ch)?.onMessage(frame.d);
      case "close":
        return this.#closed(frame.ch);
      case "ping":
        if (this.end === "relay") this.ping();
    }
  }

  /** The connection has ended. */
  dispose(): void {
    this.#isStuck = true;
    for (const ch of [...this.#open.keys()]) this.#closed(ch);
  }

  #accept(ch: number, kind: Kind, d: string): void {
    const isOurs = ch % 2 === (this.end === "relay" ? 1 : 0);
    if (isOurs || this.#open.has(ch))
      throw new Error("it opened a channel with a number that is in use");
    const now = performance.now();
    if (now - this.#opened.since > 1_000) this.#opened = { count: 0, since: now };
    if (++this.#opened.count > LIMITS.opensPerSecond)
      throw new Error(`it opened more than ${LIMITS.opensPerSecond} channels in a second`);
    if (this.#open.size >= LIMITS.channels) {
      this.onRefuse(`a channel "${kind}": ${LIMITS.channels} are open`);
      return void this.#send({ t: "close", ch });
    }
    this.onOpen(this.#add(ch, kind), d);
  }

  #add(ch: number, kind: Kind): Channel {
    const channel: Channel = {
      kind,
      send: (d) => {
        if (this.#open.get(ch) === channel) this.#sendData(ch, d);
      },
      close: () => {
        if (this.#open.delete(ch)) this.#send({ t: "close", ch });
      },
      onMessage: () => {},
      onClose: () => {},
    };
    this.#open.set(ch, channel);
    return channel;
  }

  #closed(ch: number): void {
    const channel = this.#open.get(ch);
    this.#open.delete(ch);
    channel?.onClose();
  }

  /** A message that is too long ends only its own channel. */
  #sendData(ch: number, d: string): void {
    if (this.#send({ t: "data", ch, d })) return;
    this.onRefuse(`a message of ${d.length} characters is too long`);
    this.#send({ t: "close", ch });
    this.#closed(ch);
  }

  #send(frame: Frame): boolean {
    if (this.#isStuck) return true;
    const isSent = this.wire.write(frame);
    if (this.wire.unsentBytes > LIMITS.backlogBytes) {
      this.#isStuck = true;
      this.wire.end();
    }
    return isSent;
  }
}
