import * as v from "valibot";
import type { EditorPort } from "../editor/port";
import { Failure, message } from "../lib/errors";
import { own } from "../lib/json";
import type { Log } from "../lib/log";
import type { Answer, Answers } from "../lib/requests";
import { visible } from "../lib/visible";

/** Answers each request of a Neovim's, in no order. */
export function answerRequests(
  editor: Pick<EditorPort, "on" | "call">,
  areas: Readonly<Record<string, Answers>>,
  log: Log,
): void {
  editor.on("request", async ({ id, method, params }) => {
    const [area = "", name = ""] = method.split("/");
    const answers = own(areas, area);
    const answer = await answerOf(answers && own(answers.requests, name), method, params, log);
    await editor
      .call("request_answer", { id, ...answer })
      .catch((error) => log.warn(`An answer to ${method} failed: ${message(error)}`));
    answers?.answered?.(name);
  });
}

async function answerOf(answer: Answer | undefined, method: string, params: unknown, log: Log) {
  try {
    if (!answer) throw new Failure(`the executable has no request ${method}: update it`);
    const value = await answer(params);
    // Lua takes a field that is undefined for vim.NIL.
    return value === undefined ? {} : { value };
  } catch (error) {
    if (error instanceof Failure) {
      return { error: { code: error.code, message: visible(error.message) } };
    }
    log.error(`${method} failed: ${message(error)}`);
    const cause = v.isValiError(error) ? "the request is not in the contract" : message(error);
    const text = visible(`${method} failed: ${cause} (see :Claude log)`);
    return { error: { code: "defect", message: text } };
  }
}
