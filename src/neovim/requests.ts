import * as v from "valibot";
import { message, UserError } from "../lib/errors";
import type { Log } from "../lib/log";
import { visible } from "../lib/visible";

/** What Neovim asks of us: `AREA/METHOD`. */
export const NeovimRequest = v.object({ id: v.number(), method: v.string(), params: v.unknown() });
export type NeovimRequest = v.InferOutput<typeof NeovimRequest>;

/** Answers the requests of one area. */
export interface Answers {
  /** Throws a UserError with a sentence for the user, and anything else for a defect. */
  answer(method: string, params: unknown): unknown;
  /** Neovim has taken the answer. */
  answered?(method: string): void;
}

interface RequestPort {
  readonly onRequest: { on(listener: (request: NeovimRequest) => void): void };
  call(method: string, params: object, deadlineMs: number): Promise<unknown>;
}

/** Answers each request of a Neovim's, in no order. */
export function answerRequests(
  port: RequestPort,
  areas: Readonly<Record<string, Answers>>,
  log: Log,
): void {
  const answerTo = async ({ method, params }: NeovimRequest, answers: Answers | undefined) => {
    try {
      if (!answers) throw new Error("there is no such method");
      const value = await answers.answer(method.slice(method.indexOf("/") + 1), params);
      // Lua takes a field that is undefined for vim.NIL.
      return value === undefined ? {} : { value };
    } catch (error) {
      if (error instanceof UserError) return { error: visible(error.message) };
      log.error(`${method} failed: ${message(error)}`);
      const what = v.isValiError(error) ? "the request is not in the contract" : message(error);
      return { error: visible(`${method} failed: ${what} (see :Claude log)`) };
    }
  };
  port.onRequest.on(async (request) => {
    const { id, method } = request;
    const area = method.slice(0, method.indexOf("/"));
    const answers = Object.hasOwn(areas, area) ? areas[area] : undefined;
    const answer = await answerTo(request, answers);
    await port
      .call("request_answer", { id, ...answer }, Number.POSITIVE_INFINITY)
      .catch((error) => log.warn(`An answer to ${method} failed: ${message(error)}`));
    answers?.answered?.(method.slice(area.length + 1));
  });
}
