/** Fetches the SMS messages: one per line, a label, a tab and the text; see data/README.md. */
import test from './data/sms.test.tsv?url';
import train from './data/sms.train.tsv?url';

const urls = { train, test };

export async function messages(part: keyof typeof urls): Promise<string> {
  const response = await fetch(urls[part]);
  if (!response.ok) throw new Error(`${urls[part]}: HTTP status ${response.status}`);
  return response.text();
}
