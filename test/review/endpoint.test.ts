import { eventually, perTest } from "#test";
import { answerRequests } from "../../src/commands/neovim-requests";
import type { Payload } from "../../src/editor/methods";
import { Emitter } from "../../src/lib/emitter";
import { ReviewEndpoint } from "../../src/review/endpoint";
import type { ReviewSummary } from "../../src/review/summary";
import { World } from "./state/world";

const world = perTest(() => new World());

test("keeps answering and reporting after Neovim has rejected a report", async () => {
  const onRequest = new Emitter<Payload<"request">>();
  const answered: number[] = [];
  const reported: ReviewSummary[] = [];
  const giveUp = Promise.withResolvers<void>();
  const editor = {
    on: (event: string, listener: never) => event === "request" && onRequest.on(listener),
    state: { folders: [world.root], buffers: [] },
    call: async (method: string, params: object) => {
      if (method === "request_answer") answered.push((params as { id: number }).id);
      else if (reported.push(params as ReviewSummary) === 1) await giveUp.promise;
    },
  };
  const warnings: string[] = [];
  const log = { warn: (text: string) => warnings.push(text), error: () => {} };
  const endpoint = new ReviewEndpoint(editor as never, log as never);
  answerRequests(editor as never, { review: endpoint }, log as never);
  endpoint.start();
  await eventually("the first report", () => reported.length === 1);
  world.claude({ a: "1\n" });
  onRequest.emit({ id: 7, method: "review/list", params: {} });
  await eventually("an answer", () => answered.includes(7));
  expect(reported).toHaveLength(1);
  giveUp.reject(new Error("no answer"));
  await eventually("the newest", () => reported.at(-1)?.counts.files === 1);
  expect(warnings.join()).toContain("no answer");
  endpoint.end();
});
