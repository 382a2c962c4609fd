import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import { eventually, NEOVIMS } from "#test";
import { CONTRACT } from "../../../src/lib/version";
import { Attached } from "../attached";

/* The executable dies while a diff waits for the user. */

const UI = { width: 160, height: 40 };
const OLD = "one\ntwo\n";
const NEW = "one\n2\n";

/** Makes a socket of its own play the executable's part, to be destroyed. */
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

/** Proposes a change of a file that is open, by such a socket. */
async function proposed(a: Attached, name: string): Promise<Socket> {
  const path = a.file(name, OLD);
  await a.edit(path);
  const socket = await attachSocket(a);
  await a.propose(path, NEW);
  await a.shown();
  return socket;
}

const NO_SOCKET = `
  return vim.iter(vim.api.nvim_list_chans()):all(function(chan) return chan.stream ~= "socket" end)`;

/** Answers what the review was asked, also by the tests before in the same Neovim. */
const ANSWER_ALL = `for id = 1, 999 do require("port").server_requests.on_answer({ id = id }) end`;

/** The user's version, in a buffer that Neovim does not end without. */
const KEPT = `
  return vim.tbl_map(function(info)
    local lines = vim.api.nvim_buf_get_lines(info.bufnr, 0, -1, false)
    return { table.concat(lines, "\\n"), vim.bo[info.bufnr].modified, vim.bo[info.bufnr].filetype, info.name }
  end, vim.tbl_filter(function(info) return info.name == "" end, vim.fn.getbufinfo({ buflisted = 1 })))`;

const channelEnds = (a: Attached) => a.nvim.until("the end of the channel", NO_SOCKET);

describe.each(NEOVIMS)("the executable dies, in $name", (version) => {
  test.each([
    ["looked at", ""],
    ["answered at once", "<CR>"],
    ["left", ":e other.txt<CR>"],
  ])("the user's edits of a diff that is %s stay in a buffer", async (_, keys) => {
    await using a = await Attached.asNew({ version, ui: UI });
    await a.nvim.command("filetype on");
    const socket = await proposed(a, "src/a.lua");
    await a.nvim.type("GAmine<Esc>");
    if (keys.startsWith(":")) {
      await a.nvim.type(keys);
      await a.waits();
    }
    socket.destroy();
    await once(socket, "close");
    if (keys === "<CR>") {
      await channelEnds(a);
      await a.nvim.type(keys);
    }
    await a.cleared();
    expect(await a.nvim.lua(KEPT)).toEqual([["one\n2mine", true, "lua", ""]] as never);
    await eventually("a message", async () =>
      /ended: your version of src\/a\.lua is in buffer \d+/.test(await a.messages()),
    );
    expect(a.read("src/a.lua")).toBe(OLD);
  });

  test.each([
    ["before it has received the answer", false],
    ["later", true],
  ])("the user's edits of a diff that they accepted, %s", async (_, isReceived) => {
    await using a = await Attached.asNew({ version, ui: UI });
    const socket = await proposed(a, "a.txt");
    await a.nvim.type("GAmine<Esc><CR>");
    await a.cleared();
    if (isReceived) await a.nvim.lua(ANSWER_ALL);
    socket.destroy();
    await channelEnds(a);
    expect(await a.nvim.lua<boolean>('return require("port").channel.is_attached()')).toBe(false);
    expect(await a.nvim.lua<unknown[]>(KEPT)).toHaveLength(isReceived ? 0 : 1);
  });

  test.each([
    ["a diff that Claude closes, as when it is answered in the terminal", "Claude closed the diff"],
    ["a file that was written since: Claude does not write it", "Claude does not overwrite a file"],
  ])("the user's edits of %s", async (_, words) => {
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
    expect(await a.nvim.lua(KEPT)).toEqual([["one\n2mine", true, "text", ""]] as never);
    await a.says(words);
    await a.says("your version of main.txt is in buffer");
  });

  test("of a diff without edits nothing stays, and no word is said", async () => {
    await using a = await Attached.asNew({ version, ui: UI });
    const socket = await proposed(a, "a.txt");
    socket.destroy();
    await a.cleared();
    expect(await a.nvim.lua(KEPT)).toEqual([]);
    expect(await a.messages()).not.toContain("your version");
  });

  test.each(["after the view has gone", "before Neovim has noticed"])(
    "who came from a terminal does not type in it: %s",
    async (when) => {
      await using a = await Attached.asNew({ version, ui: UI });
      await a.edit(a.file("a.txt", OLD));
      await a.nvim.command("vsplit | terminal cat");
      await a.nvim.command("let b:claude_code_terminal = v:true");
      const socket = await attachSocket(a);
      await a.nvim.type("i");
      await a.inMode("t");
      await a.propose(a.path("a.txt"), NEW);
      await a.inMode("n");
      socket.destroy();
      if (when === "before Neovim has noticed") {
        await channelEnds(a);
        await a.nvim.type("<CR>");
      }
      await a.cleared();
      await a.nvim.type("<CR>");
      await Bun.sleep(150);
      expect(await a.mode()).toBe("nt");
    },
  );
});
