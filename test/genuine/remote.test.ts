import { describe } from "bun:test";
import { requireNamespace } from "../support/namespace";
import { Container } from "../support/remote";
import { first } from "../support/toolchain";
import { accepts, InRemote, reconnects, reviews, shows, starts } from "./remote";

requireNamespace();
describe("Claude in a container, the project at another path", () => {
  const claude = InRemote.inBlock({ at: Container.PROJECT, by: "exec" });
  for (const capability of first(3, [starts, accepts, shows, reconnects, reviews]))
    capability(claude);
});
