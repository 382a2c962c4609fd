import { pathToFileURL } from "node:url";
import {
  type CallError,
  eventually,
  nightly,
  onEachNeovim,
  onNewestNeovim,
  TestClient,
} from "#test";

/*
 * Floods of requests: each one is answered or refused, and no other client waits. Only requests that move windows are
 * tested in each Neovim, since the executable alone handles the others.
 */
onNewestNeovim((session) => {
  test("answers or refuses each of 10,000 calls once, and serves others", async () => {
    using flooding = await TestClient.open(session.lock);
    const calls = Array.from({ length: 10_000 }, () =>
      flooding.call("getOpenEditors").then(
        () => "answered",
        (error: CallError) => error.code,
      ),
    );
    // In the meantime another client is served.
    expect(await session.client.request("ping")).toEqual({});
    expect(await session.client.json("getOpenEditors")).toHaveProperty("tabs");
    const outcomes = Map.groupBy(await Promise.all(calls), (outcome) => outcome);
    const answered = outcomes.get("answered")?.length ?? 0;
    const refused = outcomes.get(-32000)?.length ?? 0;
    expect(answered + refused).toBe(10_000);
    expect(answered).toBeGreaterThanOrEqual(1024);
    const ids = flooding.received.map((message) => message.id).filter((id) => id !== undefined);
    expect(new Set(ids).size).toBe(ids.length);
    expect(await flooding.json("getOpenEditors")).toHaveProperty("tabs");
  });

  test("gives each of 50 clients its own answers", async () => {
    const clients = await Promise.all(
      Array.from({ length: 50 }, (_, i) => TestClient.open(session.lock, `client ${i}`)),
    );
    const paths = clients.map((_, i) => session.write(`crowd/${i}.txt`, `${i}\n`));
    await Promise.all(
      clients.map(async (client, i) => {
        const path = paths[i] as string;
        const uri = pathToFileURL(path).href;
        const diagnostics = await client.json("getDiagnostics", { uri });
        expect(diagnostics).toEqual([{ uri, diagnostics: [] }]);
      }),
    );
    for (const client of clients) client.terminate();
    const one = `return #require("claude-code").status().clients == 1`;
    await session.neovim.until("their end", one);
  });
});

onEachNeovim((session) => {
  test("does not delay calls while one waits for the user", async () => {
    const path = session.write("wait.txt", "old\n");
    using waiting = await TestClient.open(session.lock);
    const diffs = Array.from({ length: 30 }, (_, i) =>
      waiting.openDiff(path, `new ${i}\n`, `d${i}`),
    );
    const ends = Promise.allSettled(diffs);
    expect(await waiting.json("getOpenEditors")).toHaveProperty("tabs");
    expect(await session.client.json("getOpenEditors")).toHaveProperty("tabs");
    waiting.terminate();
    await ends;
    await session.neovim.until("no diff left", `return require("port").diff_state() == "gone"`);
  });

  nightly.test("shows the last of many files that are opened while the user types", async () => {
    await session.reset();
    const paths = Array.from({ length: 60 }, (_, i) =>
      session.write(`opened/${i}.txt`, `${i} text\n`),
    );
    const shown = () => session.neovim.lua<string>("return vim.api.nvim_buf_get_name(0)");
    const open = (path: string) =>
      session.client.call("openFile", { filePath: path, startText: "text" });
    await session.neovim.type("i");
    await Promise.all(paths.map(open));
    expect(await shown()).toBe("");
    await session.neovim.type("<Esc>");
    await eventually("the last file", async () => (await shown()) === paths.at(-1));
    // It is selected there; the user has not touched it.
    await session.neovim.until("the selection", "return vim.api.nvim_get_mode().mode == 'v'");
    await open(paths[0] as string);
    await eventually("the next file", async () => (await shown()) === paths[0]);
    await session.neovim.type("l");
    await open(paths[1] as string);
    expect(await shown()).toBe(paths[0] as string);
    await session.neovim.type("<Esc>");
    await eventually("the file after that", async () => (await shown()) === paths[1]);
  });
});
