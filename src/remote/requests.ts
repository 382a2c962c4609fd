import { withDeadline } from "../lib/deadline";
import { message, UserError } from "../lib/errors";
import { isObject, type JsonObject, parseJson } from "../lib/json";
import type { Log } from "../lib/log";
import { visibleLine } from "../lib/visible";
import type { Channel, Kind } from "./channels";
import type { Link } from "./link";
import { SHOWN_LENGTH } from "./peer";

/**
 * Requests to the relay by a channel of their own, one for each connection: `{ id, … }`, answered by `{ id, … }`
 * or `{ id, problem }`. What else comes is news, which may throw.
 */
export class Requests {
  #channel: Channel | undefined;
  #last = 0;
  readonly #asked = new Map<number, PromiseWithResolvers<JsonObject>>();

  constructor(
    private readonly name: string,
    private readonly kind: Kind,
    private readonly onNews: (said: JsonObject) => void,
    private readonly onLost: () => void,
    private readonly log: Log,
  ) {}

  get isUp(): boolean {
    return this.#channel !== undefined;
  }

  connect(link: Link): void {
    this.#channel?.close();
    this.#lost();
    const channel = link.open(this.kind, "");
    if (!channel) return;
    this.#channel = channel;
    channel.onClose = () => {
      if (this.#channel === channel) this.#lost();
    };
    channel.onMessage = (text) => this.#take(parseJson(text));
  }

  #lost(): void {
    this.#channel = undefined;
    for (const { reject } of this.#asked.values()) reject(this.#isDown());
    this.#asked.clear();
    this.onLost();
  }

  #isDown(): UserError {
    return new UserError(`the connection to ${this.name} is down`);
  }

  /** Rejects with a UserError where there is no answer, or it is a problem. */
  async ask(request: object, ms: number): Promise<JsonObject> {
    if (!this.#channel) throw this.#isDown();
    const id = ++this.#last;
    const asked = Promise.withResolvers<JsonObject>();
    this.#asked.set(id, asked);
    this.#channel.send(JSON.stringify({ ...request, id }));
    try {
      const answer = await withDeadline(asked.promise, ms, this.name);
      if (answer.problem === undefined) return answer;
      throw new UserError(`${this.name}: ${visibleLine(String(answer.problem), SHOWN_LENGTH)}`);
    } catch (error) {
      throw error instanceof UserError ? error : new UserError(message(error));
    } finally {
      this.#asked.delete(id);
    }
  }

  #take(said: unknown): void {
    if (!isObject(said)) return;
    if (said.id !== undefined) return this.#asked.get(said.id as number)?.resolve(said);
    try {
      this.onNews(said);
    } catch (error) {
      this.log.warn(`The remote ${this.name}: ${this.kind} refused: ${message(error)}`);
    }
  }
}
