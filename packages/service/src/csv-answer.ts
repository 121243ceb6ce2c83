import type { Request, Response } from "express";

export interface CsvAnswer {
  /** The name under which a browser stores the file, without its ending. */
  readonly name: string;
  /** Whether no cache may store the answer: it has secrets, or is about people. */
  readonly noStore?: boolean;
}

/** Answers 200 with a CSV file (contract extensions.md) that `write` sends and ends; HEAD gets the header alone. */
export async function sendCsv(
  { req, res }: { readonly req: Request; readonly res: Response },
  { name, noStore = false }: CsvAnswer,
  write: (res: Response) => Promise<void>,
): Promise<void> {
  res.writeHead(200, {
    "content-type": "text/csv;charset=UTF-8;header=present",
    ...(noStore ? { "cache-control": "no-store" } : {}),
    "content-disposition": `attachment; filename="${name}.csv"`,
  });
  if (req.method === "HEAD") res.end();
  else await write(res);
}
