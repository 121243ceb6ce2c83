/** Reports that a chain differs from what was sealed, from this batch on. */
export class Broken extends Error {
  readonly batch: number;
  constructor(batch: number, reason: string) {
    super(reason);
    this.batch = batch;
  }
}
