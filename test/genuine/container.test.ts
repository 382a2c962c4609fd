import { describe, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { HOST_NAME, inContainer } from "../support/container";
import { newsText } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { NEWEST, nightly } from "../support/toolchain";
import { breaks, CASE_MS, changesAndRejects, FirstLight, MODIFIED, UPDATED } from "./first-light";
import { Selected } from "./selection";

/*
 * The genuine CLI (Claude Code 2.1.330) as it runs in a container of Docker Desktop: other process ids,
 * another home, and this machine under another name.
 */
requireNamespace();
const container = (locks: string, mode: "ro" | "rw") => ({
  setup: `{ allowed_hosts = { "${HOST_NAME}" } }`,
  options: ({ home }: { home: string }) => inContainer(home, { locks, mode }),
});

nightly.describe("edits from a container", () => {
  const light = FirstLight.inBlock(NEWEST, container(".local/state/claude-code.nvim/ide", "ro"));

  test(
    "are shown with its name, and accepted the CLI writes them there",
    async () => {
      const proposal = await light.propose('"zero"', '"one"');
      await light.bench.neovim.terminal.waitFor("host.docker.in…: ");
      await light.press("Enter");
      expect(newsText(await light.received(UPDATED))).not.toContain(MODIFIED);
      await light.expectWritten(proposal);
    },
    CASE_MS,
  );

  changesAndRejects(light);
  breaks(light);
});

describe("what the user shows a Claude in a container", () => {
  const selection = Selected.inBlock(container(".claude/ide", "rw"));

  test(
    "is selected: the prompt box counts the lines, and the model reads them",
    async () => {
      await selection.selectFunction();
      await selection.shown(3);
      expect(await selection.received("What is this?")).toContain(selection.text);
    },
    CASE_MS,
  );

  test(
    "is outside of the workspace: the model receives nothing of it",
    async () => {
      const { neovim, claude } = selection.bench;
      await selection.selectFunction();
      await selection.shown(3);
      const notes = join(selection.bench.home, "notes.txt");
      await writeFile(notes, "very secret\n");
      await neovim.terminal.press("Escape");
      await neovim.terminal.type(`:edit ${notes}`);
      await neovim.terminal.press("Enter");
      await neovim.terminal.type("V");
      await claude.terminal.waitUntil((screen) => !/⧉ (In|\d)/.test(screen), "no selection");
      const said = await selection.received("What do you see?");
      expect(said).not.toContain("very secret");
      expect(said).not.toContain("notes.txt");
    },
    CASE_MS,
  );

  test(
    "is mentioned: the lines are in its prompt",
    async () => {
      const { terminal } = selection.bench.neovim;
      await terminal.type(":3,5Claude mention");
      await terminal.press("Enter");
      await selection.bench.claude.terminal.waitFor("@main.lua#L3-5");
    },
    CASE_MS,
  );
});
