import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Block } from "../support/model-answer";
import type { ModelRequest } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { NEOVIMS } from "../support/toolchain";
import { edit, read, say } from "../support/turns";
import { eventually } from "./eventually";
import { lockFiles } from "./lock-file";
import { bash, FILES, MAIN, Review, TURN_MS, write } from "./review";

/*
 * Further changes of the genuine CLI (Claude Code 2.1.330) that are reviewed in a real Neovim. The steps
 * follow each other.
 */
requireNamespace();
describe.each(NEOVIMS)("$name", (version) => {
  const review = Review.inBlock(version);

  /** The agent runs beside the session that has started it (2.1.330): who asks first is not known. */
  const bySubagent = (request: ModelRequest): Block[] => {
    const isSub = JSON.stringify(request.messages[0]).includes("SUBTASK");
    if (!isSub) return say("All done.");
    return request.messages.length > 2 ? say("sub done") : write(review.path("sub.txt"), "sub\n");
  };

  test("what a subagent writes is told apart", async () => {
    review.model.script([
      [
        {
          tool: "Agent",
          input: {
            description: "sub",
            prompt: "SUBTASK",
            subagent_type: "general-purpose",
            run_in_background: false,
          },
        },
      ],
      ...Array.from({ length: 4 }, () => bySubagent),
    ]);
    await review.claude.prompt("delegate");
    await review.claude.terminal.waitFor(/Agent "sub" finished/, TURN_MS);
    await review.claude.waitForIdle();
    await eventually(review.count, 1);
    await review.command("Claude review!");
    const wanted = "sub.txt:1 new file  turn 1  ‹delegate›  Write of a subagent";
    await eventually(review.list, [wanted]);
    await review.command("1Claude keep");
    await eventually(review.count, 0);
  });

  test("what a command had changed when the user pressed Esc is there at once", async () => {
    review.model.script([bash("echo half >> mine.txt; sleep 30"), say("never")]);
    await review.claude.prompt("be slow");
    await eventually(() => review.text("mine.txt"), `${FILES["mine.txt"]}half\n`);
    await review.claude.terminal.press("Escape");
    await eventually(review.count, 1);
    await review.command("Claude review!");
    await eventually(review.list, ["mine.txt:4 +1 -0  half  turn 2  ‹be slow›  Bash"]);
  });

  test("what the user rewinds in the CLI leaves the review, and nothing of the user's goes with it", async () => {
    const mine = `${MAIN}-- mine\n`;
    await review.command("edit main.lua | call append('$', '-- mine') | silent write");
    await review.command(
      "edit mine.txt | call setline(2, 'B of mine, unsaved') | hide edit main.lua",
    );
    const main = review.path("main.lua");
    review.model.script([
      read(main),
      edit(main, "local two = 2", "local two = 22"),
      write(review.path("rewound.txt"), "new\n"),
      say("Rewind me."),
    ]);
    await review.claude.prompt("try it");
    await review.claude.terminal.waitFor(/Rewind me\./, TURN_MS);
    await eventually(review.count, 3);
    await review.claude.prompt("/rewind");
    await review.claude.terminal.waitFor(/Restore the code and\/or conversation/);
    await review.claude.terminal.press("Up");
    await review.claude.terminal.waitFor(/❯ try it/);
    await review.claude.terminal.press("Enter");
    await review.claude.terminal.waitFor(/3\. Restore code/);
    await review.claude.terminal.press("3");
    await eventually(() => review.text("main.lua"), mine);
    await eventually(review.list, ["mine.txt:4 +1 -0  half  turn 2  ‹be slow›  Bash"]);
    expect(existsSync(review.path("rewound.txt"))).toBe(false);
    await eventually(async () => (await review.neovim.buffer(main))?.text, mine);
    expect((await review.neovim.buffer(review.path("mine.txt")))?.text).toContain(
      "B of mine, unsaved\n",
    );
    await review.command("buffer mine.txt | edit! | buffer main.lua");
  });

  test("a second session, in auto mode, is told apart; a commit and a checkout of the user's decide", async () => {
    await using second = await review.startClaude("auto", "second.log");
    await second.waitForEditor();
    review.model.script([
      read(review.path("main.lua")),
      edit(review.path("main.lua"), "three = 3", "three = 33"),
      bash("sed -i s/gone/GONE/ gone.txt"),
      say("Second done."),
    ]);
    await second.prompt("go on");
    await second.terminal.waitFor(/Second done\./, TURN_MS);
    await eventually(review.count, 3);
    await review.command("Claude review! session");
    await eventually(review.list, [
      "gone.txt:1 +1 -1  GONE  turn 1  ‹go on›  Bash",
      "main.lua:3 +1 -1  local three = 33  turn 1  Edit",
    ]);
    review.git("checkout -q gone.txt", "commit -qm kept main.lua");
    await eventually(review.count, 1);
  });

  test("after kill -9 a Neovim that starts has the same review", async () => {
    process.kill(await review.neovim.pid(), "SIGKILL");
    await review.neovim.close();
    await rm(join(review.home, "nvim.sock"), { force: true });
    // Else Neovim asks its own question about the buffer that was open.
    await rm(join(review.home, ".local/state/nvim/swap"), { recursive: true, force: true });
    await eventually(async () => (await lockFiles(review.home)).length, 0, 20_000);
    await review.startNeovim([]);
    await eventually(review.count, 1);
    await review.command("Claude review");
    await eventually(review.list, ["mine.txt:4 +1 -0  half  turn 2  ‹be slow›  Bash"]);
    await review.neovim.terminal.waitFor(/hunk 1\/1/);
    await review.neovim.terminal.type("gr");
    await eventually(() => review.text("mine.txt"), FILES["mine.txt"] ?? "");
    await eventually(review.count, 0);
  });
});
