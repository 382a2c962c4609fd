import { type CallError, eventually, first, onEachNeovim, TestClient } from "#test";
import { keepBusy } from "../../support/busy";

/** Tools while Neovim does not answer: a long `:sleep`, or a hit-enter prompt. */
onEachNeovim(
  (session) => {
    beforeEach(() => session.reset());

    const busy: Record<string, () => Promise<() => Promise<void>>> = {
      "runs something": () => keepBusy(session.neovim),
      "shows a hit-enter prompt": async () => {
        await session.neovim.request("nvim_input", [":echo 'a'<Bar>echo 'b'<Bar>echo 'c'<CR>"]);
        await eventually("the prompt", () => session.neovim.asks());
        return async () => void (await session.neovim.request("nvim_input", ["<CR>"]));
      },
    };

    test("keeps the content of an answer that came too late", async () => {
      const path = await session.open("late.txt", "text\n");
      const uri = `file://${path}`;
      await session.client.texts("getDiagnostics", { uri });
      const working = session.neovim.lua(`
        vim.diagnostic.set(vim.api.nvim_create_namespace("late"), 0, {
          { lnum = 0, col = 0, end_col = 4, message = "set while busy", severity = 1 } })
        vim.uv.sleep(1000)`);
      await Bun.sleep(50);
      await session.client.texts("getDiagnostics", { uri });
      await working;
      await eventually("the diagnostic", async () =>
        (await session.client.texts("getDiagnostics", { uri })).join().includes("set while busy"),
      );
    });

    /** Asks Neovim something. The function returns whether the answer is still missing. */
    function stillBusy(): () => boolean {
      let answered = false;
      void session.neovim.lua("return true").then(() => {
        answered = true;
      });
      return () => !answered;
    }

    describe.each(first(1, Object.entries(busy)))("while Neovim %s", (_name, makeBusy) => {
      test("answers pings, lists and known diagnostics, and refuses others", async () => {
        const path = await session.open("busy.txt", "text\n");
        await session.neovim.lua(`
          vim.diagnostic.set(vim.api.nvim_create_namespace("busy"), 0, {
            { lnum = 0, col = 0, end_col = 4, message = "known before", severity = 1 } })`);
        await session.known();
        const uri = `file://${path}`;
        const known = await session.client.texts("getDiagnostics", { uri });
        expect(known[0]).toContain("known before");

        const free = await makeBusy();
        expect(await session.client.request("ping")).toEqual({});
        expect(await session.client.request("tools/list")).toHaveProperty("tools");
        const isBusy = stillBusy();
        expect(await session.client.texts("getDiagnostics", { uri })).toEqual(known);
        expect(isBusy()).toBe(true);
        const refused = await Promise.all([
          session.client.refusal("getOpenEditors"),
          session.client.refusal("checkDocumentDirty", { filePath: path }),
          session.client.refusal("openFile", { filePath: path }),
        ]);
        for (const why of refused) expect(why).toContain("Neovim is busy");
        const asked = ["editor/position", "resources/list"].map((method) =>
          session.client.request(method).catch((error: CallError) => error),
        );
        expect(await Promise.all(asked)).toMatchObject(
          asked.map(() => ({ code: -32001, message: expect.stringContaining("Neovim is busy") })),
        );
        using other = await TestClient.open(session.lock);
        expect(await other.request("ping")).toEqual({});
        await free();
        await eventually("answers again", () => session.client.json("getOpenEditors"));
      });

      test("closes an open diff for its client at once, on screen once Neovim is free", async () => {
        const path = session.write("closing.txt", "old\n");
        const answer = session.client.openDiff(path, "new\n");
        const windows = () => session.neovim.lua<number>("return #vim.api.nvim_list_wins()");
        await eventually("the diff", async () => (await windows()) === 2);
        const free = await makeBusy();
        const isBusy = stillBusy();
        expect(await session.client.texts("closeAllDiffTabs")).toEqual(["closed 1 diff tabs"]);
        expect((await answer)[0]).toBe("DIFF_REJECTED");
        expect(isBusy()).toBe(true);
        await free();
        await eventually("the end of the diff", async () => (await windows()) === 1);
      });

      test("shows a diff once Neovim is free", async () => {
        const path = session.write("waiting.txt", "old\n");
        const free = await makeBusy();
        const from = session.client.received.length;
        const answer = session.client.openDiff(path, "new\n", "waiting");
        expect(await session.client.request("ping")).toEqual({});
        expect(JSON.stringify(session.client.received.slice(from))).not.toContain("DIFF");
        await free();
        await session.neovim.until("the diff", "return require('port').diff_shown()");
        await session.client.texts("close_tab", { tab_name: "waiting" });
        expect((await answer)[0]).toBe("DIFF_REJECTED");
      });
    });
  },
  { ui: { width: 100, height: 24 } },
);
