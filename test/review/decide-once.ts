/** A Neovim's executable that makes one decision: ROOT, METHOD and PARAMS are its arguments. */
import { ReviewService } from "../../src/review/service";

const [root, method, params] = process.argv.slice(2) as [string, string, string];
const service = new ReviewService();
service.follow([root]);
await service.answer(method, JSON.parse(params));
