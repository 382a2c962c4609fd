import { afterEach, beforeEach, expect, test } from "bun:test";
import { Emitter } from "../../src/lib/emitter";
import { ReviewHost, type ReviewNews, type ReviewRequest } from "../../src/review/host";
import { eventually } from "../support/eventually";
import { World } from "./state/world";

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world[Symbol.dispose]());

test("a report that Neovim does not take stops neither answers nor what is reported later", async () => {
  const onReview = new Emitter<ReviewRequest>();
  const answered: number[] = [];
  const reported: ReviewNews[] = [];
  const giveUp = Promise.withResolvers<void>();
  const port = {
    onReview,
    loadedFiles: () => [],
    reviewAnswer: async ({ id }: { id: number }) => void answered.push(id),
    reviewChanged: (news: ReviewNews) =>
      reported.push(news) === 1 ? giveUp.promise : Promise.resolve(),
  };
  const warnings: string[] = [];
  const log = { warn: (text: string) => warnings.push(text), error: () => {} };
  const host = new ReviewHost(port, log as never, [world.root]);
  host.start();
  await eventually("the first report", () => reported.length === 1);
  world.claude({ a: "1\n" });
  onReview.emit({ id: 7, method: "list", params: {} });
  await eventually("an answer", () => answered.includes(7));
  expect(reported).toHaveLength(1);
  giveUp.reject(new Error("no answer"));
  await eventually("the newest", () => reported.at(-1)?.counts.files === 1);
  expect(warnings.join()).toContain("no answer");
  host.end();
});
