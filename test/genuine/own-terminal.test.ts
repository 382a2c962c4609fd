import { NEWEST } from "#test";
import { newsText } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { edit, read, say } from "../support/turns";
import { eventually } from "./eventually";
import { InTerminal } from "./in-terminal";

/* A user's way through a few turns. Windows runs it, too: without tmux, and without a look at the screen, which wine
   draws in its own way. */
requireNamespace();
describe(`the CLI in the terminal of ${NEWEST.name}`, () => {
  const there = new InTerminal().inBlock(NEWEST, {
    files: { "notes.txt": "alpha\r\nbeta\r\ngamma\r\n" },
    terminal: 'args = { "--allowedTools=Write" }',
  });

  const idle = () =>
    eventually(() => there.lua(`return require("claude-code").sessions()[1].state`), "idle");

  /** Claude edits the file, and the user accepts the diff. */
  async function accept(from: string, to: string): Promise<void> {
    const { model, neovim } = there;
    const notes = there.path("notes.txt");
    model.script([read(notes), edit(notes, from, to), say("Edited."), say("Seen.")]);
    const proposal = (await there.onDisk("notes.txt")).replace(from, to);
    await there.send("edit the notes");
    const diff = await neovim.waitForDiff(proposal.replaceAll("\r", ""));
    await neovim.focus(diff.proposed.window);
    await there.keys("<CR>");
    await eventually(() => there.onDisk("notes.txt"), proposal);
  }

  test("connects", async () => {
    await there.command("Claude");
    await there.connected();
    await idle();
  });

  test("writes what is accepted in a diff, with its line ends", async () => {
    await accept("beta", "BETA");
    await idle();
  });

  test("lists the file that the hooks recorded", async () => {
    const input = { file_path: there.path("new.txt"), content: "one\n" };
    there.model.script([[{ tool: "Write", input }], say("Written.")]);
    await there.send("write a file");
    await there.model.nextRequest((request) => newsText(request).includes("File created"));
    await idle();
    await there.command("Claude review!");
    const list = `return vim.tbl_map(function(item)
      return vim.fs.basename(vim.api.nvim_buf_get_name(item.bufnr)) .. ":" .. item.lnum
    end, vim.fn.getqflist())`;
    await eventually(() => there.lua<string[]>(list), ["new.txt:1"]);
  });

  test("sends new problems to the model, and holds the turn that leaves them", async () => {
    await there.neovim.startServer("notes.txt", there.home);
    await accept("gamma", "WRONG");
    const [broken, held] = ["<new-diagnostics>", "Found 1 error"];
    await there.model.nextRequest((request) => newsText(request).includes(broken));
    await there.model.nextRequest((request) => newsText(request).includes(held));
  });
});
