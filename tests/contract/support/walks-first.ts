import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Begins the contract suite with the walks over the route table: they take longest, and one that begins last keeps the run waiting. Where an earlier run
 * is known, vitest itself begins with what took longest.
 */
export class WalksFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isWalk = ({ project, moduleId }: TestSpecification) =>
      project.name === "contract" && /\/routes\/|scopes\.test\.ts$/.test(moduleId);
    const first = sorted.findIndex(({ project }) => project.name === "contract");
    const [before, contract] = [sorted.slice(0, Math.max(0, first)), sorted.slice(Math.max(0, first))];
    return [...before, ...contract.filter(isWalk), ...contract.filter((one) => !isWalk(one))];
  }
}
