/**
 * The runtime and the type generator share these options, because a generated type is only true if both use the same ones. int64 becomes a number,
 * because all our ids and times stay below 2^53.
 */
export const loaderOptions = { keepCase: false, longs: Number, enums: String, defaults: true, oneofs: true } as const;
