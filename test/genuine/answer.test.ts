import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { requireNamespace } from "../support/namespace";
import { NEOVIMS, nightly } from "../support/toolchain";
import { Asking, bash, QUESTIONS } from "./answer";

/* The user answers a genuine CLI in Neovim, or in its terminal: whoever comes first. */
requireNamespace();
describe.each(NEOVIMS)("answers to Claude from $name", (version) => {
  const asking = Asking.inBlock(version);

  test("allowed in Neovim: the dialog goes, and Claude goes on", async () => {
    const request = await asking.ask(bash("touch a.txt"));
    expect(request.title).toBe("Bash: touch a.txt");
    expect(request.lines).toEqual(["touch a.txt", "", "description: Run it"]);
    const offered = await asking.choices();
    expect(offered[0]).toBe("Allow");
    expect(offered).toContain("Allow, and set the permission mode in this session: acceptEdits");
    expect(offered.slice(-4)).toEqual([
      "Deny",
      "Deny with a reason…",
      "Show it in its terminal",
      "Show the whole request",
    ]);
    await asking.choose("Allow");
    await asking.hasState("idle");
    expect(existsSync(asking.path("a.txt"))).toBe(true);
    expect(await asking.count()).toBe(0);
    await asking.isOver();
  });

  test("answered in the terminal, by Yes and by Esc: the request and its hook are gone", async () => {
    for (const [file, key, isMade] of [
      ["b.txt", "1", true],
      ["c.txt", "Escape", false],
    ] as const) {
      const { id } = await asking.ask(bash(`touch ${file}`));
      await asking.choices();
      await asking.press(key);
      expect(existsSync(asking.path(file))).toBe(isMade);
      expect(await asking.count()).toBe(0);
      await asking.isOver();
      expect(
        await asking.neovim.lua(
          `return { require("claude-code.sessions.requests").answer(${id}, { allow = true }) }`,
        ),
      ).toEqual([false, "that request was answered already, or Claude no longer asks it"]);
      // The list from before is still there, as a picker's would be.
      await asking.choose("Allow");
    }
  });

  nightly.test("denied with a reason, which Claude receives; without one it stops", async () => {
    await asking.ask(bash("touch d.txt"));
    await asking.choices();
    await asking.neovim.lua(`reason = "Use /tmp instead." return true`);
    await asking.choose("Deny with a reason…");
    await asking.received("Use /tmp instead.");
    await asking.hasState("idle");
    const before = asking.model.requests.length;
    await asking.ask(bash("touch d.txt"));
    await asking.choices();
    await asking.choose("Deny");
    await asking.hasState("idle");
    expect(existsSync(asking.path("d.txt"))).toBe(false);
    expect(asking.model.requests.length).toBe(before + 1);
  });

  nightly.test("questions: an option, and several", async () => {
    await asking.ask(QUESTIONS);
    expect((await asking.choices()).slice(0, 3)).toEqual(["Red", "Blue", "Type an answer…"]);
    await asking.choose("Blue");
    await asking.choose("[ ] S");
    await asking.choose("[ ] L");
    await asking.choose("Done");
    await asking.received('"Which colour?"="Blue", "Which sizes?"="S, L"');
    await asking.hasState("idle");
  });
});
