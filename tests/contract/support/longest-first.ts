import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The walks over the route table, and files that wait for minutes. */
const longest = /\/routes\/|\/(scopes|proof-counts|tenant-quotas)\.test\.ts$/;

/**
 * Begins the contract suite with what takes longest, because a file that begins last keeps the run waiting. Where an earlier run is known, vitest itself
 * begins with what took longest.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ project, moduleId }: TestSpecification) => project.name === "contract" && longest.test(moduleId);
    const first = sorted.findIndex(({ project }) => project.name === "contract");
    const [before, contract] = [sorted.slice(0, Math.max(0, first)), sorted.slice(Math.max(0, first))];
    return [...before, ...contract.filter(isLong), ...contract.filter((one) => !isLong(one))];
  }
}
