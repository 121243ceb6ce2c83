import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Stack, type StackOptions, startStack } from "@harrier/stack";

export type TestStackOptions = Partial<Omit<StackOptions, "dataDir">> & {
  /** The default is a folder in the temp dir, which `stop` removes. A given one is kept. */
  dataDir?: string;
};

/** There are two of the services whose replicas must agree with each other. */
export const twoOfEach = { controller: 2, "rollout-engine": 2 } as const;

/**
 * Starts the five services as processes with their own database, on free ports: what a user has after `npm start`. Deaths and warnings of the
 * services go to standard error, so that they are shown beside the failed test.
 */
export async function startTestStack(options: TestStackOptions = {}): Promise<Stack> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), "harrier-stack-"));
  const cleanUp = () => {
    if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
  };
  const print = (line: string) => void process.stderr.write(`${line}\n`);
  try {
    const stack = await startStack({ httpPort: 0, print, ...options, dataDir });
    return {
      ...stack,
      async stop() {
        await stack.stop();
        cleanUp();
      },
    };
  } catch (error) {
    cleanUp();
    throw error;
  }
}
