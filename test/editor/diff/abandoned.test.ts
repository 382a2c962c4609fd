import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import { eventually, NEOVIMS } from "#test";
import { CONTRACT } from "../../../src/lib/version";
import { Attached } from "../attached";

/* The executable dies while a diff waits for the user. */

const UI = { width: 160, height: 40 };
const OLD = "one\ntwo\n";
const NEW = "one\n2\n";

/** Makes a separate socket play the executable's part, so that the test can destroy it. */
async function attachSocket(a: Attached): Promise<Socket> {
  const socket = createConnection(await a.nvim.lua<string>("return vim.v.servername"));
  await once(socket, "connect");
  const channel = await eventually("the second channel", () =>
    a.nvim.lua<number>(`
      for _, chan in ipairs(vim.api.nvim_list_chans()) do
        if chan.stream == "socket" then return chan.id end
      end
      return false`),
  );
  await a.call("attach", { channel, contract: CONTRACT });
  return socket;
}

const NO_SOCKET = `
  return vim.iter(vim.api.nvim_list_chans()):all(function(chan) return chan.stream ~= "socket" end)`;

/** Answers the review's requests, including those of earlier tests in the same Neovim. */
const ANSWER_ALL = `for id = 1, 999 do require("port").channel.on_answer({ id = id }) end`;

/** The user's version, in a modified buffer that keeps Neovim from exiting. */
const UNNAMED = "getbufinfo({'buflisted': 1})->filter('v:val.name == \"\"')";
const KEPT = `{${UNNAMED}->map('[getbufline(v:val.bufnr, 1, "$"), v:val.changed, getbufvar(v:val.bufnr, "&ft")]')}`;

describe.each(NEOVIMS)("the executable dies, in $name", (version) => {
  /** A change of a.lua that such a socket proposes, and what ends it. */
  async function proposed() {
    const a = await Attached.asNew({ version, ui: UI });
    await a.nvim.command("filetype on");
    await a.edit(a.file("a.lua", OLD));
    const socket = await attachSocket(a);
    await a.propose(a.path("a.lua"), NEW);
    await a.shown();
    const dies = async () => {
      socket.destroy();
      await a.nvim.until("the end of the channel", NO_SOCKET);
    };
    return { a, dies };
  }

  test.each([
    ["on screen", "GAmine<Esc>", ""],
    ["answered just then", "GAmine<Esc>", "<CR>"],
    ["left", "GAmine<Esc>:e other.txt<CR>", ""],
  ])("keeps the user's edits of a diff that is %s", async (_, keys, later) => {
    const { a, dies } = await proposed();
    await using _a = a;
    await a.nvim.type(keys);
    if (keys.includes(":e")) await a.plays("<Ignore>  diffs wait 1");
    await dies();
    if (later) await a.nvim.type(later);
    await a.cleared();
    await a.plays(`
      <Ignore>   says ended: your version of a.lua is in buffer   disk a.lua = one|two|
                 ${KEPT} [[['one', '2mine'], 1, 'lua']]
    `);
  });

  test.each([
    ["before the answer arrives", false],
    ["later", true],
  ])("keeps the user's edits of a diff that they accepted: %s", async (_, isReceived) => {
    const { a, dies } = await proposed();
    await using _a = a;
    await a.nvim.type("GAmine<Esc><CR>");
    await a.cleared();
    if (isReceived) await a.nvim.lua(ANSWER_ALL);
    await dies();
    await a.plays(`
      <Ignore>   {luaeval('require("port").channel.is_attached()')} v:false
                 {${UNNAMED}->len()} ${isReceived ? 0 : 1}
    `);
  });

  test.each([
    ["a diff that Claude closes, as when it is answered in the terminal", "Claude closed the diff"],
    ["a file that was written since: Claude does not write it", "Claude does not overwrite a file"],
  ])("keeps the user's edits of %s", async (_, words) => {
    await using a = await Attached.opened({ version, ui: UI }, OLD);
    const id = await a.propose(a.main, NEW);
    await a.nvim.type("GAmine<Esc>");
    if (words.includes("closed")) await a.call("diff_close", { ids: [id] });
    else {
      a.file("main.txt", "another\n");
      await a.nvim.type("<CR><CR>");
      expect(await a.outcome(id)).toEqual({ id, outcome: "accepted", text: "one\n2mine\n" });
    }
    await a.cleared();
    await a.plays(`
      <Ignore>   says ${words}   says your version of main.txt is in buffer
                 ${KEPT} [[['one', '2mine'], 1, 'text']]
    `);
  });

  test("keeps nothing from a diff without edits, and says where to decide", async () => {
    const { a, dies } = await proposed();
    await using _a = a;
    await dies();
    await a.cleared();
    await a.says("the connection to Claude ended: decide about a.lua where Claude asks you");
    await a.plays(`<Ignore>  ${KEPT} []  says ! your version`);
  });
});
