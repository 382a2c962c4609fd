import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "#test";
import { entries, Registration } from "../../src/locate/registry";

test("follows the workspace, and writes only what has changed or is gone", () => {
  const folder = temporaryFolder();
  const { pid } = process;
  const entry = { pid, address: "/s", workspaceFolders: ["/a"], port: 1, since: 1 };
  const registration = new Registration(entry, folder);
  const file = () => statSync(join(folder, `${pid}.json`)).ino;
  const first = file();
  registration.follow(["/a"]);
  expect(file()).toBe(first);

  registration.follow(["/b"]);
  expect(entries(folder)).toEqual([{ ...entry, workspaceFolders: ["/b"] }]);

  rmSync(join(folder, `${pid}.json`));
  registration.follow(["/b"]);
  expect(entries(folder)).toHaveLength(1);
  registration.end();
  expect(entries(folder)).toEqual([]);
});
