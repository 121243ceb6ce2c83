/**
 * How protos become JavaScript, in one place for the runtime and the type generator: a generated type is only true
 * while both use the same options. int64 becomes a number, because every id and time of ours stays below 2^53.
 */
export const loaderOptions = { keepCase: false, longs: Number, enums: String, defaults: true, oneofs: true } as const;
