import type { Asked } from "../api/client.ts";

/** The rows whose name contains a text, of a list that the server answers whole. */
export function named<Row extends { readonly name: string }>(
  asked: Asked<readonly Row[]>,
  text: string | undefined,
): Asked<readonly Row[]> {
  const wanted = (text ?? "").trim().toLowerCase();
  return {
    queryKey: [...asked.queryKey, wanted],
    queryFn: async (context) => (await asked.queryFn(context)).filter(({ name }) => name.toLowerCase().includes(wanted)),
  };
}
