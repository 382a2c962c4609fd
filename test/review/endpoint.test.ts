import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { Emitter } from "../../src/lib/emitter";
import { answerRequests, type NeovimRequest } from "../../src/neovim/requests";
import { ReviewEndpoint } from "../../src/review/endpoint";
import { Blobs } from "../../src/review/journal/blobs";
import type { ReviewSummary } from "../../src/review/summary";
import { eventually } from "../support/eventually";
import { World } from "./state/world";

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world[Symbol.dispose]());

/** The Neovim that is reported to: its two methods. */
function takes(methods: {
  answer: (answer: { id: number; error?: string }) => Promise<void>;
  changed: (summary: ReviewSummary) => Promise<void>;
}) {
  return {
    call: (method: string, params: object): Promise<void> => {
      if (method === "request_answer") return methods.answer(params as { id: number });
      expect(method).toBe("review_changed");
      return methods.changed(params as ReviewSummary);
    },
  };
}

test("a report that Neovim does not take stops neither answers nor what is reported later", async () => {
  const onRequest = new Emitter<NeovimRequest>();
  const answered: number[] = [];
  const reported: ReviewSummary[] = [];
  const giveUp = Promise.withResolvers<void>();
  const port = {
    onRequest,
    onDelta: new Emitter<{ folders?: string[] }>(),
    state: { folders: [world.root] },
    loadedFiles: () => [],
    ...takes({
      answer: async ({ id }) => void answered.push(id),
      changed: (summary) => (reported.push(summary) === 1 ? giveUp.promise : Promise.resolve()),
    }),
  };
  const warnings: string[] = [];
  const log = { warn: (text: string) => warnings.push(text), error: () => {} };
  const endpoint = new ReviewEndpoint(port, log as never);
  answerRequests(port, { review: endpoint }, log as never);
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

test("an undo that is due and fails is asked for again only when something was recorded", async () => {
  const prompt = world.prompt();
  world.write("a", "1\n");
  world.claude({ a: "2\n" }, { prompt });
  const { decision } = await world.undo([{ path: world.path("a") }]);
  world.stop();
  const onRequest = new Emitter<NeovimRequest>();
  const errors: string[] = [];
  const asked: number[] = [];
  const port = {
    onRequest,
    onDelta: new Emitter<{ folders?: string[] }>(),
    state: { folders: [world.root] },
    loadedFiles: () => [],
    ...takes({
      answer: async ({ error }) => void (error && errors.push(error)),
      changed: async ({ due }) => {
        for (const { paths, decision: queued } of due) {
          asked.push(Date.now());
          const params = { files: paths.map((path) => ({ path })), queued };
          onRequest.emit({ id: asked.length, method: "review/undo", params });
        }
      },
    }),
  };
  const full = spyOn(Blobs.prototype, "put").mockImplementation(() => {
    throw new Error("ENOSPC: no space left on device");
  });
  const log = { warn: () => {}, error: () => {} } as never;
  const endpoint = new ReviewEndpoint(port, log);
  answerRequests(port, { review: endpoint }, log);
  endpoint.start();
  await eventually("the error", () => errors.length > 0);
  await Bun.sleep(500);
  expect(asked).toHaveLength(1);
  expect(errors).toEqual([expect.stringContaining("no space left")]);
  full.mockRestore();
  world.prompt("B");
  await eventually("the undo", () => world.read("a") === "1\n");
  expect((await world.service.summary()).due).toEqual([]);
  expect(decision).toBeDefined();
  endpoint.end();
});
