import { rmSync, unlinkSync } from "node:fs";
import { claims, eventually, lacks, needs, onEachNeovim, outcomeOf } from "#test";
import { join } from "../../../src/lib/platform";

/* Files whose text and names never leave Neovim. */
const SECRET = "TOKEN=very-secret-value\n";

const PRIVATE = `
  .env .env.local .ENV prod.env server.pem deep/er/server.key id_rsa id_rsa.pub id_ed25519_work
  .netrc .npmrc vault.kdbx cert.p12 credentials.json .aws/credentials .aws/sso/cache/1.json
  .ssh/config home/.ssh/keys/a/b .gnupg/pubring.kbx .kube/config secrets.yml own.secret
  notes/diary.txt a/notes/b/c.txt .claude/.credentials.json .claude/ide/4711.lock
  .cargo/credentials.toml .kube/cache/token infra/prod.tfvars id_rsa.bak tls/server.key~
  tls/server.pem.old .main.lua.swp ..env.swo .bash_history fish_history`
  .trim()
  .split(/\s+/)
  // Composed and decomposed, in both cases, and with an invisible space.
  .concat("\u00dcbersicht.txt", "u\u0308bersicht.txt", "U\u0308BERSICHT.TXT", ".en\u200bv");
const PUBLIC = `
  main.lua environment.ts env keys.lua pem.md x.ssh/file.txt kube/config config/credentials.ts
  .env.example notes.txt keys.key.ts flake.lock history.ts`
  .trim()
  .split(/\s+/);

onEachNeovim(
  (session) => {
    /** Waits until the debounce time has ended in Neovim, and all frames have arrived. */
    const settled = async () => {
      await session.neovim.lua("vim.wait(35)");
      await session.known();
    };

    beforeEach(() => session.reset());

    const isPrivate = (path: string) =>
      session.neovim.lua<boolean>(`return require("port").privacy.is_private((...))`, path);

    test.each(PRIVATE)("%s is private", async (name) => {
      expect(await isPrivate(join(session.neovim.cwd, name))).toBe(true);
      expect(await isPrivate(`fugitive://${session.neovim.cwd}/.git//0/${name}`)).toBe(true);
      expect(await isPrivate(`gitsigns://${session.neovim.cwd}/.git//:0:${name}`)).toBe(true);
      expect(await isPrivate(`gitsigns://${session.neovim.cwd}/.git//HEAD~1:${name}`)).toBe(true);
    });

    test.each(PUBLIC)("%s is not", async (name) => {
      expect(await isPrivate(join(session.neovim.cwd, name))).toBe(false);
      expect(await isPrivate(`gitsigns://${session.neovim.cwd}/.git//:0:${name}`)).toBe(false);
    });

    test.each([
      "jj:///r/.env?rev=1",
      "zipfile:///a.zip::.env",
      "scp://host/%2Eenv",
      "scp://host/.s%73h/known",
      "term:///r//17:less .env",
      "fugitive:///r/.env.example/.git//0/.env",
    ])("hides %s, which shows a private file", async (name) => {
      expect(await isPrivate(name)).toBe(true);
    });

    describe("a link that is swapped for another file", () => {
      const known = () => session.client.call("getOpenEditors").then((one) => JSON.stringify(one));

      needs("symlinks").each([
        ["that is deleted", "link.md", false],
        ["whose target is deleted", "a.pem", false],
        ["that becomes a file", "link.md", true],
      ])("%s: its buffer stays private until it is read again", async (_, gone, isFile) => {
        claims("A private file's text and name stay in Neovim");
        for (const name of ["link.md", "a.pem"]) rmSync(session.path(name), { force: true });
        session.link("link.md", session.write("a.pem", SECRET));
        await session.edit(session.path("link.md"));
        unlinkSync(session.path(gone));
        if (isFile) session.write("link.md", "public\n");
        await session.neovim.lua("vim.bo.modified = true");
        expect(await known()).not.toContain("link.md");
        const uri = `file://${session.path("link.md")}`;
        expect(await outcomeOf(session.client.request("resources/read", { uri }))).toThrow();
        await session.neovim.type("ggVG");
        const selected = JSON.stringify(await session.client.call("getCurrentSelection"));
        expect(selected).not.toContain("very-secret-value");
        await session.neovim.type("<Esc>");
        if (!isFile) return;
        await session.neovim.command("edit!");
        expect(await known()).toContain("link.md");
      });

      needs("symlinks")(
        "keeps lines of a private file private that a link showed for a moment",
        async () => {
          for (const name of ["link.md", "a.pem"]) rmSync(session.path(name), { force: true });
          session.link("link.md", session.write("public.md", "public\nthe same\n"));
          await session.edit(session.path("link.md"));
          const text = () => session.neovim.lua<string>("return vim.fn.getline(1)");
          expect(await text()).toBe("public");
          unlinkSync(session.path("link.md"));
          session.link("link.md", session.write("a.pem", `${SECRET}the same\n`));
          // Changes only the lines that differ, as before an answer about a file that Claude has just written.
          const reload = `return require("port").dispatcher.call("document_reload", { path = ... })`;
          await session.neovim.lua(reload, session.path("link.md"));
          await eventually("the other text", async () =>
            (await text()).includes("very-secret-value"),
          );
          // The file is gone, and only its buffer remains.
          unlinkSync(session.path("link.md"));
          await session.neovim.type("ggVG");
          const selection = await session.client.call("getCurrentSelection");
          expect(JSON.stringify(selection)).not.toContain("very-secret-value");
          const uri = `file://${session.path("link.md")}`;
          expect(await outcomeOf(session.client.request("resources/read", { uri }))).toThrow();
          await session.neovim.type("<Esc>");
        },
      );

      test("keeps a renamed buffer private", async () => {
        await session.edit(session.write("b.pem", SECRET));
        // After another message, Neovim would ask for a key.
        await session.neovim.command("silent file harmless.md");
        await session.neovim.lua("vim.bo.modified = true");
        expect(await known()).not.toContain("harmless");
      });
    });

    test("keeps a diff of a private file private", async () => {
      const { client, neovim } = session;
      // Both sides of the diff fit.
      await neovim.command("set columns=120");
      const path = session.write("notes/diary.md", "very-secret-value\n");
      const paths = { old_file_path: path, new_file_path: path };
      const proposal = { new_file_contents: "another very-secret-value\n", tab_name: "x" };
      const answer = client.call("openDiff", { ...paths, ...proposal });
      await neovim.until("both sides", "return #vim.api.nvim_list_wins() == 2 and vim.wo.diff");
      const { length } = client.received;
      for (const side of ["h", "l"]) {
        await neovim.command(`wincmd ${side}`);
        await neovim.type("V");
        const asked = [
          client.request("editor/context", { lines_before: 1, lines_after: 1 }),
          client.request("editor/position", {}),
          client.request("editor/selection", {}),
          client.request("editor/buffers", { include_special: true }),
          client.call("getCurrentSelection"),
          client.call("getOpenEditors"),
        ];
        const said = await Promise.all(asked.map((one) => one.catch(() => "refused")));
        expect(JSON.stringify(said)).not.toContain("very-secret-value");
        expect(JSON.stringify(said)).not.toContain("diary");
        await neovim.type("<Esc>");
      }
      await settled();
      const received = JSON.stringify(client.received.slice(length));
      expect(received).not.toContain("very-secret-value");
      expect(received).not.toContain("diary");
      await client.call("closeAllDiffTabs");
      await answer;
    });

    test("follows the rules of globs", async () => {
      const cases = `
        *.pem a.b.pem yes; *.pem pem no; a?c aüc yes; a?c ac no; [a-c]x bx yes; [!a-c]x bx no;
        [!a-c]x dx yes; {a,b{c,d}}e bde yes; {a,b{c,d}}e be no; {a {a yes; [ [ yes; %d+ %d+ yes;
        %d+ 12 no; **/x/** /a/b/x/c/d yes; **/x/** /a/bx/c no; /a/**/b* /a/bb yes;
        /a/*/b /a/x/y/b no`
        .split(";")
        .map((one) => one.trim().split(" "));
      const matches = await session.neovim.lua<string[]>(
        `local glob = require("port").glob
         return vim.tbl_map(function(case)
           return glob.matches(glob.compile(case[1]), case[2]) and "yes" or "no"
         end, ...)`,
        cases,
      );
      expect(cases.map(([glob, path], i) => [glob, path, matches[i]])).toEqual(cases as never);
    });

    describe("an open private file", () => {
      claims("A private file's text and name stay in Neovim");
      let secret: string;
      let all: string[];
      const name = `.env.${Math.random().toString(36).slice(2)}`;

      beforeEach(async () => {
        secret = session.write(name, SECRET);
        rmSync(session.path("link.txt"), { force: true });
        all = [secret, ...(lacks("symlinks") ? [] : [session.link("link.txt", secret)])];
        await session.edit(session.write("main.lua", "return 1\n"));
        for (const path of all) {
          await session.edit(path);
          await session.neovim.lua(`
            vim.bo.modified = true
            vim.diagnostic.set(vim.api.nvim_create_namespace("test"), 0, {
              { lnum = 0, col = 0, message = "odd value: very-secret-value" },
            })`);
        }
        await session.neovim.type("ggVG");
      });

      test("is in no answer, notification or resource", async () => {
        const { client } = session;
        const answers = [
          await client.call("getDiagnostics"),
          await client.call("getOpenEditors"),
          await client.call("getCurrentSelection"),
          await client.call("getLatestSelection"),
          await client.request("resources/list"),
          await client.request("editor/buffers", { include_special: true }),
          await client.request("editor/selection", {}),
        ];
        expect(answers[2]).toMatchObject({ content: [{ text: expect.stringContaining("false") }] });
        await eventually("the public file", async () =>
          JSON.stringify(await client.call("getOpenEditors")).includes("main.lua"),
        );
        await settled();
        const said = JSON.stringify([answers, client.received]);
        expect(said).not.toContain(name);
        expect(said).not.toContain("link.txt");
        expect(said).not.toContain("very-secret-value");
      });

      test("is refused with an explanation when a method asks for it", async () => {
        const { client } = session;
        for (const path of all) {
          const uri = `file://${path}`;
          expect(await client.json("getDiagnostics", { uri })).toEqual([
            expect.objectContaining({ diagnostics: [] }),
          ]);
          const opened = await client.call("openFile", { filePath: path });
          expect(JSON.stringify(opened)).toContain("is private");
          const unknown = client.request("resources/read", { uri });
          expect(await outcomeOf(unknown)).toThrow("No open buffer");
        }
        expect(await outcomeOf(client.request("editor/position", {}))).toThrow("is private");
        const context = client.request("editor/context", { lines_before: 1, lines_after: 1 });
        expect(await outcomeOf(context)).toThrow("is private");
      });

      test("is known again once an exception lifts it", async () => {
        await session.neovim.lua(
          `require("claude-code").setup({
             auto_start = false,
             privacy = { patterns = { "!" .. ... } },
           })`,
          name,
        );
        expect(JSON.stringify(await session.client.call("getOpenEditors"))).toContain(name);
        await session.neovim.lua(`require("claude-code").setup({
          privacy = { patterns = { "*.secret", "notes/**", "übersicht.*", "!.env.example" } },
        })`);
        expect(JSON.stringify(await session.client.call("getOpenEditors"))).not.toContain(name);
      });

      test("becomes unknown when a file takes a private name", async () => {
        const path = session.write("soon.txt", "x\n");
        await session.edit(path);
        await eventually("it is known", async () =>
          JSON.stringify(await session.client.call("getOpenEditors")).includes("soon.txt"),
        );
        await session.neovim.command("file soon.pem");
        const after = JSON.stringify(await session.client.call("getOpenEditors"));
        expect(after).not.toContain("soon");
      });
    });
  },
  {
    setup: `{
      privacy = { patterns = { "*.secret", "notes/**", "übersicht.*", "!.env.example" } },
    }`,
    constants: ["selection.DEBOUNCE_MS = 30"],
  },
);
