import { parentPort, workerData } from "node:worker_threads";
import { compareSync } from "bcryptjs";
import type { BcryptTry } from "./bcrypt.ts";

const { password, hash } = workerData as BcryptTry;
parentPort?.postMessage(compareSync(password, hash));
