import {
  afterAll,
  afterEach,
  beforeAll,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../../support/eventually";
import { NEOVIMS, NEWEST, type NeovimVersion, ROOT } from "../../support/neovim";
import { TSCONFIG, TYPESCRIPT, TYPESCRIPT_OPTIONS } from "../../support/typescript";
import { Attached } from "../attached";

/*
 * Real language servers in a proposal: each looks at the proposed text under the name of its file, and
 * what it finds there is in no list of Neovim's. Servers take their time, so each block shares one.
 */
setDefaultTimeout(240_000);
const COLD_MS = 90_000;
const UI = { width: 160, height: 40 };

const BIN = join(ROOT, "node_modules/.bin");
const SERVERS: Record<string, string[]> = {
  typescript: TYPESCRIPT,
  json: [join(BIN, "vscode-json-language-server"), "--stdio"],
  python: [join(BIN, "pyright-langserver"), "--stdio"],
  sh: [join(BIN, "bash-language-server"), "start"],
};

interface Shown {
  line: number;
  text: string;
}

/** Where a server finds what, in files of a project that it knows as a whole. */
const LANGUAGES: {
  filetype: keyof typeof SERVERS;
  files: Record<string, string>;
  file: string;
  proposal: string;
  /** A part of the one problem of the proposal, and its 1-based line. */
  problem: { line: number; message: string };
}[] = [
  {
    filetype: "typescript",
    files: {
      "tsconfig.json": TSCONFIG,
      "util.ts": "/** Twice as much. */\nexport const twice = (n: number) => 2 * n;\n",
      "main.ts": 'import { twice } from "./util";\nexport const four = twice(2);\n',
      // Not a module: declared twice, it would be a problem.
      "global.ts": "const once = 1;\nfunction here() { return once; }\n",
      // One that is not on disk is of no project: the server then loads every library, 3 s of processor time.
      "unseen.ts": "export const s = 1;\n",
    },
    file: "main.ts",
    proposal:
      'import { twice } from "./util";\nconst n: string = "two";\nexport const four = twice(n);\n',
    problem: { line: 3, message: "not assignable to parameter of type 'number'" },
  },
  {
    filetype: "json",
    files: { "data.json": '{ "a": 1 }\n' },
    file: "data.json",
    proposal: '{\n  "a": 1,\n  "b":\n}\n',
    problem: { line: 4, message: "Value expected" },
  },
  {
    filetype: "python",
    files: {
      "util.py": "def twice(n: int) -> int:\n    return 2 * n\n",
      "main.py": "from util import twice\n\nfour = twice(2)\n",
    },
    file: "main.py",
    proposal: 'from util import twice\n\nfour = twice("2")\n',
    problem: { line: 3, message: "cannot be assigned to parameter" },
  },
  {
    filetype: "sh",
    files: { "run.sh": "#!/bin/sh\necho hi\n" },
    file: "run.sh",
    proposal: "#!/bin/sh\necho hi\nread answer\n",
    problem: { line: 3, message: "answer appears unused" },
  },
];

for (const version of NEOVIMS)
  describe(version.name, () => {
    // The same of Neovim serves all of them: one that reports by itself and one that is asked will do.
    const languages = version === NEWEST ? LANGUAGES : LANGUAGES.slice(0, 2);
    for (const language of languages)
      describe(language.filetype, () => inProposal(version, language));
  });

const SERVE = `
  local servers, options, root = ...
  vim.api.nvim_create_autocmd("FileType", {
    pattern = vim.tbl_keys(servers),
    callback = function(args)
      vim.lsp.start({
        name = args.match, cmd = servers[args.match], init_options = options[args.match], root_dir = root,
        filetypes = { args.match },
      }, { bufnr = args.buf })
    end,
  })`;

/** The problems that the current buffer shows, by the extmarks of vim.diagnostic's virtual text. */
const SHOWN = `
  local shown = {}
  for name, id in pairs(vim.api.nvim_get_namespaces()) do
    if name:find("diagnostic") and name:find("virtual_text") then
      for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, id, 0, -1, { details = true })) do
        local text = ""
        for _, chunk in ipairs(mark[4].virt_text or {}) do text = text .. chunk[1] end
        if text:find("%a") then table.insert(shown, { line = mark[2] + 1, text = text }) end
      end
    end
  end
  return shown`;

function inProposal(version: NeovimVersion, language: (typeof LANGUAGES)[number]) {
  let a: Attached;
  let path: string;

  beforeAll(async () => {
    a = await Attached.start({ version, ui: UI });
    for (const [name, text] of Object.entries(language.files)) a.file(name, text);
    await a.nvim.lua("vim.diagnostic.config({ virtual_text = true })");
    await a.nvim.lua(SERVE, SERVERS, { typescript: TYPESCRIPT_OPTIONS }, a.nvim.cwd);
    path = a.path(language.file);
    await a.edit(path);
    await a.attach();
    await eventually(
      "the file's server",
      () =>
        a.nvim.lua<boolean>(
          "local client = vim.lsp.get_clients({ bufnr = 0 })[1] return client ~= nil and client.initialized == true",
        ),
      COLD_MS,
    );
  });
  afterAll(() => a?.[Symbol.asyncDispose]());
  afterEach(async () => {
    await a.nvim.command("silent! ClaudeCodeCloseAllDiffs");
    await a.nvim.lua("vim.cmd('silent! fclose!') vim.cmd.only()");
    await a.cleared();
  });

  const shown = () => a.nvim.lua<Shown[]>(SHOWN);
  const problemShown = () =>
    eventually(
      "the problem",
      async () => {
        const [first, ...others] = await shown();
        expect(first).toMatchObject({ line: language.problem.line });
        expect(first?.text).toContain(language.problem.message);
        expect(others).toEqual([]);
      },
      COLD_MS,
    );

  test("the problem of the proposal is shown there, and is in no list", async () => {
    const id = await a.propose(path, language.proposal);
    await problemShown();
    expect(
      await a.nvim.lua(`
        vim.diagnostic.setqflist({ open = false })
        return { #vim.diagnostic.get(), #vim.fn.getqflist() }`),
    ).toEqual([0, 0]);
    const answer = await a.call<{ files: unknown[] }>("problems", {});
    expect(answer.files).toEqual([]);
    await reject(id);
  });

  const open = async (text: string, name = language.file) => {
    const id = await a.propose(a.path(name), text);
    await served();
    return id;
  };

  if (language.filetype === "typescript") {
    /** The buffer and the line that the cursor is in. */
    const place = () =>
      a.nvim.lua<[string, number]>(
        "return { vim.fn.fnamemodify(vim.api.nvim_buf_get_name(0), ':t'), vim.fn.line('.') }",
      );
    const goTo = (line: number, column: number) =>
      a.nvim.lua("vim.api.nvim_win_set_cursor(0, { ... })", line, column);
    const definition = () => a.nvim.lua("vim.lsp.buf.definition()");

    test("definitions: of the proposal in the proposal, of another file there; the diff waits", async () => {
      const id = await open(language.proposal);
      await goTo(3, 26); // `n`
      await definition();
      await eventually("the proposal", async () =>
        expect(await place()).toEqual(["main.ts (proposed)", 2]),
      );
      await goTo(3, 21); // `twice`
      await definition();
      await eventually("the other file", async () => expect(await place()).toEqual(["util.ts", 2]));
      await a.waits();
      await a.nvim.type("]f");
      await a.shown();
      await served();
      await reject(id);
    });

    test("hover shows what the proposal says; CTRL-] goes to the definition, CTRL-O comes back", async () => {
      const id = await open(language.proposal);
      await goTo(3, 26);
      await a.nvim.type("K");
      await eventually("the hover", async () =>
        expect(
          await a.nvim.lua<string>(`
            for _, win in ipairs(vim.api.nvim_list_wins()) do
              if vim.api.nvim_win_get_config(win).relative ~= "" then
                return table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(win), 0, -1, false), " ")
              end
            end
            return ""`),
        ).toContain("const n: string"),
      );
      await a.nvim.type("<Esc>3G27|<C-]>");
      await eventually("the definition", async () =>
        expect(await place()).toEqual(["main.ts (proposed)", 2]),
      );
      await a.nvim.type("<C-o>");
      expect(await place()).toEqual(["main.ts (proposed)", 3]);
      await reject(id);
    });

    test("what K shows goes with the diff", async () => {
      const id = await open(language.proposal);
      await a.nvim.type("3G27|K");
      const count = "return #vim.api.nvim_list_wins()";
      await eventually("the hover", async () => expect(await a.nvim.lua<number>(count)).toBe(3));
      await a.nvim.type("q");
      expect((await a.outcome(id)).outcome).toBe("rejected");
      await eventually("one window", async () => expect(await a.nvim.lua<number>(count)).toBe(1));
    });

    test("references name the proposal once, and the other file", async () => {
      const id = await open(language.proposal);
      await goTo(1, 9); // `twice`
      await a.nvim.lua("vim.lsp.buf.references()");
      const entries = () =>
        a.nvim.lua<string[]>(`
          return vim.tbl_map(function(item)
            return vim.fn.fnamemodify(vim.fn.bufname(item.bufnr), ":t") .. ":" .. item.lnum
          end, vim.fn.getqflist())`);
      await eventually("the list", async () =>
        expect((await entries()).toSorted()).toEqual([
          "main.ts (proposed):1",
          "main.ts (proposed):3",
          "util.ts:2",
        ]),
      );
      await a.nvim.command("cclose");
      await reject(id);
    });

    test("keys go from problem to problem and show them; an edit that fixes one removes it", async () => {
      const id = await open(language.proposal);
      await problemShown();
      await a.nvim.type("gg]d");
      expect(await place()).toEqual(["main.ts (proposed)", 3]);
      await a.nvim.type("<C-w>d");
      await eventually("the float", async () =>
        expect(await a.nvim.lua<number>("return #vim.api.nvim_list_wins()")).toBe(3),
      );
      await a.nvim.type("gg[d");
      expect(await place()).toEqual(["main.ts (proposed)", 3]);
      await a.nvim.type(':2s/string/number/<CR>:2s/"two"/2/<CR>');
      await eventually("no problem", async () => expect(await shown()).toEqual([]), COLD_MS);
      await reject(id);
    });

    test("the file's own server learns nothing: its problems, its text and its clients stay", async () => {
      const global = a.path("global.ts");
      const buf = await a.edit(global);
      await served();
      const own = (at: number) =>
        a.nvim.lua(
          `local buf = ...
           return {
             vim.tbl_map(function(client) return client.name end, vim.lsp.get_clients({ bufnr = buf })),
             vim.diagnostic.count(buf), vim.bo[buf].modified,
           }`,
          at,
        );
      const before = await own(buf);
      const id = await open(
        "const once = 1;\nfunction here() { return once; }\nconst wrong: string = 1;\n",
        "global.ts",
      );
      await eventually(
        "the one problem",
        async () => expect((await shown()).map(({ line }) => line)).toEqual([3]),
        COLD_MS,
      );
      expect(await own(buf)).toEqual(before);
      expect(before).toEqual([["typescript"], [], false]);
      await reject(id);
    });

    test("a file that no buffer holds is served by the servers of its project", async () => {
      const id = await open("export const s: string = 1;\n", "unseen.ts");
      await eventually(
        "the problem",
        async () => expect((await shown()).map(({ line }) => line)).toEqual([1]),
        COLD_MS,
      );
      await reject(id);
    });

    test("the keys of the diff stay what they are, whatever others map when a server attaches", async () => {
      await a.nvim.lua(`
        vim.api.nvim_create_autocmd("LspAttach", {
          group = vim.api.nvim_create_augroup("user", {}),
          callback = function(args)
            vim.keymap.set("n", "gr", vim.lsp.buf.references, { buffer = args.buf })
            vim.keymap.set("n", "q", "<Cmd>echo 'mine'<CR>", { buffer = args.buf })
          end,
        })`);
      const id = await open(language.proposal);
      const mapping = () =>
        a.nvim.lua<string[]>(
          "return { vim.fn.maparg('q', 'n', false, true).desc, vim.fn.maparg('gr', 'n', false, true).desc }",
        );
      await eventually("our keys", async () =>
        expect(await mapping()).toEqual(["Reject Claude's proposal", "Drop this hunk"]),
      );
      await a.nvim.lua("vim.api.nvim_del_augroup_by_name('user')");
      await reject(id);
    });

    test("grr lists references though gr drops a hunk; :w accepts with a server attached", async () => {
      await a.nvim.lua("vim.keymap.set('n', 'grr', vim.lsp.buf.references)");
      const id = await open(language.proposal);
      await eventually("a `gr` that waits", async () =>
        expect(
          await a.nvim.lua<number>("return vim.fn.maparg('gr', 'n', false, true).nowait"),
        ).toBe(0),
      );
      const win = await a.nvim.lua<number>("return vim.api.nvim_get_current_win()");
      const lines = `return vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(${win}))`;
      await a.nvim.type("1G10|grr");
      await eventually("the list", async () =>
        expect(await a.nvim.lua<string>("return vim.bo.buftype")).toBe("quickfix"),
      );
      await a.nvim.command("cclose");
      expect(await a.nvim.lua<number>(lines)).toBe(3);
      await a.nvim.lua("vim.api.nvim_set_current_win(...) vim.o.timeoutlen = 50", win);
      await a.nvim.type("2Ggr");
      await eventually("the dropped hunk", async () =>
        expect(await a.nvim.lua<number>(lines)).toBe(2),
      );
      await a.nvim.type("u:w<CR>");
      expect(await a.outcome(id)).toMatchObject({ outcome: "accepted" });
      await a.cleared();
      expect(await a.nvim.lua("return vim.v.errmsg")).toBe("");
    });
  }

  // The one that starts fastest.
  if (language.filetype === "json") {
    test("Neovim ends at once with a server attached, and no server outlives it", async () => {
      await using other = await Attached.start({ version, ui: UI });
      await other.nvim.lua(SERVE, SERVERS, {}, other.nvim.cwd);
      const file = other.file("data.json", '{ "a": 1 }\n');
      await other.edit(file);
      await other.attach();
      const count = "return #vim.lsp.get_clients()";
      await eventually(
        "one server",
        async () => expect(await other.nvim.lua<number>(count)).toBe(1),
        COLD_MS,
      );
      await other.propose(file, '{ "a": 2 }\n');
      await eventually(
        "two servers",
        async () => expect(await other.nvim.lua<number>(count)).toBe(2),
        COLD_MS,
      );
      const pids = await other.nvim.lua<number[]>(
        "return vim.api.nvim_get_proc_children(vim.fn.getpid())",
      );
      expect(pids).toHaveLength(2);
      await other.nvim.quit();
      await eventually("no server", async () => {
        for (const pid of pids) expect(existsSync(`/proc/${pid}`)).toBe(false);
      });
    });

    test("the second server ends some time after the last diff, and another diff starts it again", async () => {
      const names = () =>
        a.nvim.lua<string[]>(
          "return vim.tbl_map(function(client) return client.name end, vim.lsp.get_clients())",
        );
      await a.nvim.lua('require("port").proposal_servers.KEEP_MS = 100');
      await reject(await open(language.proposal));
      await eventually("one server", async () => expect(await names()).toEqual(["json"]));
      const id = await open(language.proposal);
      expect((await names()).toSorted()).toEqual(["json", "json (proposal)"]);
      await reject(id);
      await a.nvim.lua('require("port").proposal_servers.KEEP_MS = 120000');
    });

    test("a second server that is killed takes nothing with it", async () => {
      const children = () =>
        a.nvim.lua<number[]>("return vim.api.nvim_get_proc_children(vim.fn.getpid())");
      await a.nvim.lua('require("port").proposal_servers.KEEP_MS = 1');
      await eventually("one server", async () => expect(await children()).toHaveLength(1));
      await a.nvim.lua('require("port").proposal_servers.KEEP_MS = 120000');
      const [own] = await children();
      const id = await open(language.proposal);
      for (const pid of await children()) if (pid !== own) process.kill(pid, "SIGKILL");
      await eventually("one server", async () => expect(await children()).toEqual([own as number]));
      expect(await a.messages()).not.toContain("exit code");
      await reject(id);
    });

    test("off, and without this server, nothing attaches", async () => {
      for (const option of ["enabled = false", 'exclude = { "json" }']) {
        await a.configure(`{ diff = { lsp = { ${option} } } }`);
        const id = await a.propose(path, language.proposal);
        await a.shown();
        await Bun.sleep(500);
        expect(await a.nvim.lua<number>("return #vim.lsp.get_clients({ bufnr = 0 })")).toBe(0);
        await reject(id);
      }
      await a.configure("{}");
    });
  }

  /** Waits until a server has the current buffer open. */
  async function served() {
    await eventually(
      "a server",
      () =>
        a.nvim.lua<boolean>(
          "local client = vim.lsp.get_clients({ bufnr = 0 })[1] return client ~= nil and client.initialized == true",
        ),
      COLD_MS,
    );
  }

  async function reject(id: number) {
    await a.nvim.lua("require('port').reject(...)", id);
    await a.outcome(id);
    await a.cleared();
    const errors = await a.nvim.lua<string>(
      "local text = vim.v.errmsg vim.v.errmsg = '' return text",
    );
    // Neovim's own syntax/sh.vim deletes a command that may not be there.
    expect(errors.replace(/^E184: .*/, "")).toBe("");
  }
}
