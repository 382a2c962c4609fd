import { describe, expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { newsText } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { NEOVIMS } from "../support/toolchain";
import { edit, read, say } from "../support/turns";
import { eventually } from "./eventually";
import { bash, FILES, MAIN, Review, TURN_MS, write } from "./review";

/*
 * The review's whole path with the genuine CLI (Claude Code 2.1.330) and a real Neovim: what the CLI
 * changes, what the user sees and decides, and what the model receives of that. Only the model is a
 * stand-in. The steps follow each other.
 */
requireNamespace();
describe.each(NEOVIMS)("$name", (version) => {
  const review = Review.inBlock(version);

  test("everything that the CLI changes is listed: by its tools, by its shell", async () => {
    await review.command(
      "edit mine.txt | call setline(1, 'A of mine') | silent write | edit main.lua",
    );
    const main = review.path("main.lua");
    review.model.script([
      read(main),
      edit(main, "local two = 2", "local two = 22"),
      write(review.path("new.txt"), "new\n"),
      bash("sed -i s/two/TWO/ crlf.txt; sed -i 's/^c$/C/' mine.txt"),
      bash("rm gone.txt && mv old.txt moved.txt"),
      bash("touch g0.txt; cat > here.txt <<'X'\nheredoc\nX"),
      say("Tidy."),
    ]);
    await review.claude.prompt("tidy up");
    await review.claude.terminal.waitFor(/Tidy\./, TURN_MS);
    await review.claude.waitForIdle();
    await eventually(review.count, 8);
    await review.command("Claude review!");
    // The prompt is that of the entry above.
    const from = "turn 1";
    await eventually(review.list, [
      `crlf.txt:2 +1 -1  TWO  ${from}  ‹tidy up›  Bash`,
      `g0.txt:1 new empty file  ${from}  Bash`,
      `gone.txt:1 deleted  ${from}  Bash`,
      `here.txt:1 new file  ${from}  Bash`,
      `main.lua:2 +1 -1  local two = 22  ${from}  Edit`,
      `mine.txt:3 +1 -1  C  ${from}  Bash`,
      `moved.txt:1 renamed from old.txt  ${from}  Bash`,
      `new.txt:1 new file  ${from}  Write`,
    ]);
  });

  test("entries are kept and undone, to the byte, and decisions are taken back", async () => {
    for (const name of ["crlf.txt", "gone.txt", "moved.txt", "here.txt", "main.lua"]) {
      const left = (await review.list()).length;
      await review.select(name);
      await review.neovim.terminal.type("gr");
      await eventually(async () => (await review.list()).length, left - 1);
    }
    for (const name of ["crlf.txt", "gone.txt", "old.txt", "main.lua"]) {
      expect(await review.text(name)).toBe(FILES[name] as string);
    }
    expect(["gone.txt", "old.txt"].map((name) => statSync(review.path(name)).mode & 0o777)).toEqual(
      [0o755, 0o755],
    );
    expect(["moved.txt", "here.txt"].filter((name) => existsSync(review.path(name)))).toEqual([]);
    expect((await review.neovim.buffer(review.path("main.lua")))?.text).toBe(MAIN);
    expect(await review.text("mine.txt")).toBe("A of mine\nb\nC\n");

    await review.select("g0.txt");
    await review.neovim.terminal.type("Vjga");
    await eventually(review.count, 1);
    await review.command("Claude back");
    await eventually(async () => (await review.list()).length, 3);
    await review.command("1,2Claude keep");
    await eventually(review.count, 1);
  });

  test("the model receives comments, and which edits were undone, and only once", async () => {
    await review.command("edit main.lua");
    await review.command("2Claude comment! two is enough");
    await review.claude.terminal.waitFor(/@ide:review:comments/);
    review.model.script([say("Noted.")]);
    await review.claude.terminal.press("Enter");
    const received = newsText(await review.model.nextRequest());
    expect(received).toContain("1. main.lua:2: two is enough\n   > local two = 2");
    expect(received).toContain("Do not make these again unless the user asks for it.");
    expect(received).toContain("main.lua\nline 2:\n+local two = 2\n-local two = 22");
    await review.claude.waitForIdle();
    review.model.script([say("And now.")]);
    await review.claude.prompt("and now");
    expect(newsText(await review.model.nextRequest())).not.toContain("Do not make these again");
    await review.claude.waitForIdle();
    await review.command("Claude comment!");
    await review.neovim.terminal.waitFor(/there is no comment to send/);
    await review.command("Claude review done");
    await eventually(review.count, 0);
  });
});
