// Invented names of people and businesses, combined from short lists of common words.
import { hashKey, seededRandom } from './seeded-random.ts';

const words = (text: string): string[] => text.split(/\s+/);

const GIVEN = words(`Ana Bruno Carla Diego Elisa Fábio Gabriela Hugo Isabel João
  Karina Lucas Marina Nelson Olívia Paulo Renata Sérgio Tânia Vitor`);
const SURNAMES = words(`Almeida Barbosa Cardoso Duarte Esteves Ferreira Gomes Lima
  Machado Nunes Oliveira Pereira Ramos Santos Teixeira Vieira`);
const BUSINESS = ['Mercado', 'Padaria', 'Farmácia', 'Papelaria', 'Empório', 'Oficina', 'Depósito'] as const;
const BUSINESS_NAMES = ['da Praça', 'do Bairro', 'Bela Vista', 'Boa Hora', 'do Campo', 'Estrela', 'União'] as const;

const PEOPLE = GIVEN.length * SURNAMES.length ** 2;
/** Coprime to PEOPLE (odd, not a multiple of five), so that the first 5,120 people of a kind have different names. */
const STRIDE = 1_847;

export function personName(seed: number, kind: string, index: number): string {
  const number = (hashKey([seed, kind])[0] + index * STRIDE) % PEOPLE;
  const given = GIVEN[number % GIVEN.length];
  const pair = Math.floor(number / GIVEN.length);
  return `${given} ${SURNAMES[pair % SURNAMES.length]} ${SURNAMES[Math.floor(pair / SURNAMES.length)]}`;
}

export function businessName(seed: number, index: number): string {
  const random = seededRandom(seed, 'business', index);
  return `${random.pick(BUSINESS)} ${random.pick(BUSINESS_NAMES)} ${index + 1}`;
}
