import { appendFileSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { eventually, needs, restoresEnv, temporaryFolder } from "#test";
import { transcriptOf } from "../../src/claude/config-dir";
import { join } from "../../src/lib/platform";
import { TranscriptEndpoint } from "../../src/transcript/endpoint";
import { prompt } from "./entries";

interface Part {
  view: number;
  problem?: string;
  block?: { lines: string[] };
}

let folder: string;
let sent: Part[];
let take: () => Promise<void>;
let endpoint: TranscriptEndpoint;
restoresEnv("CLAUDE_CONFIG_DIR");
beforeEach(() => {
  folder = temporaryFolder();
  process.env.CLAUDE_CONFIG_DIR = folder;
  mkdirSync(join(folder, "projects/-p"), { recursive: true });
  sent = [];
  take = async () => {};
  // Neovim's only method here receives the reports.
  const call = (_method: string, part: object) => {
    sent.push(part as Part);
    return take();
  };
  endpoint = new TranscriptEndpoint({ call: call as never }, { warn: () => {} } as never);
});
afterEach(() => endpoint.end());

const path = (session: string) => join(folder, "projects/-p", `${session}.jsonl`);
const append = (session: string, text: string, count = 1) =>
  appendFileSync(path(session), `${JSON.stringify(prompt(text))}\n`.repeat(count));
const open = async (session: string) => {
  append(session, "begun");
  return (await endpoint.requests.open({ session })).view;
};
const shown = (view: number, text: string) =>
  sent.some((part) => part.view === view && part.block?.lines.includes(`❯ ${text}`));

test("reports a missing file once, until it can be read again", async () => {
  const [gone, other] = [await open("a"), await open("b")];
  const problems = () => sent.filter(({ view, problem }) => view === gone && problem).length;
  rmSync(path("a"));
  await eventually("the problem", () => problems() === 1);
  for (const text of ["1", "2"]) {
    append("b", text);
    await eventually("another's part", () => shown(other, text));
  }
  expect(problems()).toBe(1);
  writeFileSync(path("a"), `${JSON.stringify(prompt("new"))}\n`);
  await eventually("the new file", () => shown(gone, "new"));
  rmSync(path("a"));
  await eventually("the second problem", () => problems() === 2);
});

test("sends a part once Neovim has taken the previous one, and sends none of a closed view", async () => {
  const [view, other] = [await open("a"), await open("b")];
  const parts = () => sent.filter((part) => part.view === view);
  let taken = Promise.withResolvers<void>();
  take = () => taken.promise;
  append("a", "first");
  await eventually("the first part", () => sent.length > 0);
  append("a", "second");
  append("b", "beside");
  await eventually("another's part", () => shown(other, "beside"));
  expect(parts()).toHaveLength(1);
  const first = taken;
  taken = Promise.withResolvers<void>();
  first.resolve();
  await eventually("the second part", () => parts().length > 1);
  endpoint.requests.close({ view });
  taken.resolve();
  await taken.promise;
  append("a", "third");
  append("b", "behind");
  await eventually("another's part", () => shown(other, "behind"));
  expect(parts()).toHaveLength(2);
});

describe("a conversation's file", () => {
  const projects = (name: string) => join(folder, "projects", name);
  beforeEach(() => {
    for (const [at, name] of ["-old", "-new"].entries()) {
      mkdirSync(projects(name));
      writeFileSync(projects(`${name}/a.jsonl`), "");
      utimesSync(projects(`${name}/a.jsonl`), at, at);
    }
  });

  needs("symlinks").each<[string, () => void]>([
    ["nothing else", () => {}],
    ["a plain file", () => writeFileSync(projects(".DS_Store"), "")],
    ["a link to itself", () => symlinkSync("loop", projects("loop"))],
    ["a link to nothing", () => symlinkSync("gone", projects("dead"))],
    ["a folder with that name", () => mkdirSync(projects("-x/a.jsonl"), { recursive: true })],
  ])("is the newest beside %s", (_what, make) => {
    make();
    expect(transcriptOf("a")).toBe(projects("-new/a.jsonl"));
  });

  test("is nowhere for an id that is too long", () => {
    expect(transcriptOf("a".repeat(5_000))).toBeUndefined();
  });
});
